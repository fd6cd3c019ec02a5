# Receives webhooks with WEBrick, which comes with Ruby on Debian (elsewhere: gem install webrick). Try it:
#
#     WEBHOOK_SECRET=whsec_… ruby -I clients/ruby/lib examples/receive-webhooks/receive.rb
require 'offhook'
require 'webrick'

secret = ENV.fetch('WEBHOOK_SECRET')
port = Integer(ENV.fetch('PORT', '9000'))
$stdout.sync = true

# Deliveries come at least once. A real receiver keeps their ids in its database.
seen = {}

silent = WEBrick::Log.new(File::NULL)
server = WEBrick::HTTPServer.new(Port: port, BindAddress: '127.0.0.1', Logger: silent, AccessLog: [],
                                 StartCallback: -> { puts "listening on #{port}" })
server.mount_proc('/') do |request, response|
  headers = request.header.transform_values(&:first)
  event = Offhook::Webhooks.verify(request.body.to_s, headers, secret)
  puts "received #{event[:event]} #{event[:id]}" unless seen.key?(event[:id])
  seen[event[:id]] = true
  response.status = 204
rescue Offhook::WebhookSignatureError => e
  puts "refused #{e.message}"
  response.status = 401
end
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
server.start
