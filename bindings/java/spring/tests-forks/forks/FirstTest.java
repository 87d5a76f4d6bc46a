package forks;

final class FirstTest extends OneOfTwo {}
