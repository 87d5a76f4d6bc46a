# redis-rb: takes numbers in each way. `run` tells what is printed and what the arguments are.
require "redis"

$stdout.sync = true
port, flag, token, ca = ARGV
options = { host: "localhost", port: port.to_i, reconnect_attempts: 100, reconnect_delay: 0.05,
            reconnect_delay_max: 0.5 }
options[:password] = token unless token.to_s.empty?
options.merge!(ssl: true, ssl_params: { ca_file: ca }) unless ca.to_s.empty?
client = Redis.new(**options)

# redis-rb does not try again after LOADING, which a service that starts answers, nor where a
# connection is lost while TLS begins.
def take(client)
  tries ||= 0
  puts "uid #{client.call("UID.NEXT")}"
rescue Redis::CommandError, SystemCallError => error
  is_of_restart = error.is_a?(SystemCallError) || error.message.start_with?("LOADING")
  raise unless is_of_restart && (tries += 1) < 200
  sleep 0.05
  retry
end

100.times do
  take(client)
  puts "orders #{client.call("TAG.NEXT", "orders")}"
  puts "orders #{client.incr("orders")}"
  puts "invoices #{client.call("SERIES.NEXT", "invoices")}"
end
client.call("UID.NEXT", 1000).each { |uid| puts "uid #{uid}" }
uids = client.pipelined { |pipeline| 1000.times { pipeline.call("UID.NEXT") } }
uids.each { |uid| puts "uid #{uid}" }
["TAG.NEXT nobody", "UID.NEXT none", "NO.SUCH"].each do |wrong|
  begin
    client.call(*wrong.split)
    abort "#{wrong}: no error"
  rescue Redis::CommandError => error
    abort "#{wrong}: #{error}" unless error.message.include?(wrong.split.last)
  end
end
puts "waits"
take(client) until File.exist?(flag)
100.times { take(client) }
