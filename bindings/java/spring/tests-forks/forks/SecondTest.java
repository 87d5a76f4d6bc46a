package forks;

final class SecondTest extends OneOfTwo {}
