# Prints the microseconds of an id: one by one, and a thousand at once.

require "redis"

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

ids = Redis.new(port: Integer(ARGV[0]))
ids.call("UID.NEXT")
start = now
5000.times { Integer(ids.call("UID.NEXT")) }
one = (now - start) / 5000
start = now
100.times { ids.call("UID.NEXT", 1000).map { |uid| Integer(uid) } }
many = (now - start) / 100_000
printf("%.1f %.2f\n", one * 1e6, many * 1e6)
