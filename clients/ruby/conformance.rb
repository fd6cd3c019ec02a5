# frozen_string_literal: true

# Driver of the conformance test. See clients/conformance/README.md.

require 'digest'
require 'json'
require_relative 'lib/offhook'

# Runs one command after the other on the client that was opened last.
class Driver
  RENAMED = {
    timeoutSeconds: :timeout,
    maxRetries: :max_retries,
    maxRetryAfterSeconds: :max_retry_after,
    maxResponseBytes: :max_response_bytes,
    idempotencyKey: :idempotency_key
  }.freeze

  def run(command)
    case command[:do]
    when 'open' then open(command)
    when 'call' then readable(invoke(command))
    when 'list' then invoke(command).lazy.first(command[:max])
    when 'stream' then invoke(command).first(command[:count])
    when 'verify' then verify(command)
    else raise ArgumentError, "No command \"#{command[:do]}\""
    end
  end

  private

  def open(command)
    limits = renamed(command).slice(*RENAMED.values)
    @client = Offhook::Client.new(api_key: command[:apiKey], base_url: command[:baseUrl], **limits)
    nil
  end

  # Calls the method that the command names.
  def invoke(command)
    resource, verb = command[:operation].split('.').map { |name| snake(name) }
    options = renamed(command[:options] || {})
    if_match = options.delete(:ifMatch)
    named = {
      **(command[:query] || {}),
      **(command[:body] || {}),
      **(if_match ? { if_match: if_match } : {}),
      options: options
    }
    @client.public_send(resource).public_send(verb, *command[:path], **named)
  end

  # A download by what it has, and a list by its first page.
  def readable(value)
    case value
    when Offhook::Pages then value.first_page
    when Offhook::Download
      whole = value.read
      { contentType: value.content_type, sizeBytes: whole.bytesize, sha256: Digest::SHA256.hexdigest(whole) }
    else value
    end
  end

  def verify(command)
    # The names of headers are what they are, also as symbols.
    headers = command[:headers].transform_keys(&:to_s)
    Offhook::Webhooks.verify(command[:body], headers, command[:secret], now: command[:now])
  end

  def renamed(options)
    options.transform_keys(RENAMED)
  end

  def snake(name)
    name.gsub(/([a-z0-9])([A-Z])/, '\1_\2').downcase
  end
end

def error_of(error)
  of_api = %i[code request_id retry_after_seconds details].to_h do |name|
    [name, error.respond_to?(name) ? error.public_send(name) : nil]
  end
  {
    kind: error.class.name.split('::').last.delete_suffix('Error'),
    message: error.message,
    status: error.status,
    code: of_api[:code],
    requestId: of_api[:request_id],
    retryAfterSeconds: of_api[:retry_after_seconds],
    details: of_api[:details] || [],
    reason: error.respond_to?(:reason) ? error.reason : nil
  }
end

$stdout.sync = true
driver = Driver.new
$stdin.each_line do |line|
  answer =
    begin
      { ok: true, value: driver.run(JSON.parse(line, symbolize_names: true)) }
    rescue Offhook::Error => e
      { ok: false, error: error_of(e) }
    end
  puts JSON.generate(answer)
end
