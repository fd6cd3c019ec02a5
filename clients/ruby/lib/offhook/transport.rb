# frozen_string_literal: true

require 'json'
require 'securerandom'
require 'uri'
require_relative 'api_errors'
require_relative 'body'
require_relative 'deadline'
require_relative 'download'
require_relative 'http_exchange'
require_relative 'live_events'
require_relative 'pages'
require_relative 'request_options'
require_relative 'retry'
require_relative 'version'

module Offhook
  # Sends requests: retries, time-outs, and errors of answers.
  class Transport
    JSON_TYPE = 'application/json'

    # @raise [ArgumentError] when the key or the address is none
    def initialize(api_key, base_url, limits)
      raise ArgumentError, 'Cannot use the API key: it is empty or has blanks' unless api_key.match?(/\A[!-~]+\z/)

      @api_key = api_key
      @base_url = required_url(base_url).sub(%r{/+\z}, '')
      @limits = limits
    end

    # Keeps the key out of messages and consoles.
    def inspect
      "#<#{self.class} #{@base_url}>"
    end

    # The answer as JSON.
    def json(facts, options)
      repeated(facts, options) { |exchange, deadline| Body.json(exchange, deadline, @limits.max_response_bytes) }
    end

    # An answer without a body.
    def nothing(facts, options)
      repeated(facts, options) { |exchange, _deadline| exchange.close }
      nil
    end

    def pages(facts, options)
      first_offset = facts.query&.fetch(:offset, nil) || 0
      Pages.new(facts.paging, first_offset) { |changes| json(facts.with_query(changes), options) }
    end

    def download(facts, options)
      given = options_of(options)
      repeated(facts, options) do |exchange, _deadline|
        Body.require_type(exchange, /\A#{Regexp.escape(facts.accept)}\b/i)
        Download.new(exchange, given.timeout || @limits.timeout)
      end
    end

    def live_events(facts, options)
      given = options_of(options)
      timeout = given.timeout || @limits.timeout
      asked = facts.with_accept('text/event-stream')
      LiveEvents.new(timeout, given.max_retries || @limits.max_retries, @limits) do
        open(asked, Deadline.new(timeout), nil)
      end
    end

    private

    def required_url(text)
      uri = URI.parse(text)
      return text if uri.is_a?(URI::HTTP) && uri.host && uri.query.nil? && uri.fragment.nil?

      raise URI::InvalidURIError
    rescue URI::InvalidURIError
      raise ArgumentError, "Cannot use the base URL \"#{text}\": expected https://…"
    end

    # Attempts until one succeeds, or its failure is for good.
    def repeated(facts, options)
      given = options_of(options)
      key = facts.retry_rule == :keyed ? given.idempotency_key || SecureRandom.uuid : nil
      attempt = 0
      begin
        deadline = Deadline.new(given.timeout || @limits.timeout)
        yield open(facts, deadline, key), deadline
      rescue Error => e
        max_retries = given.max_retries || @limits.max_retries
        limits = { max_retries: max_retries, max_retry_after: @limits.max_retry_after }
        wait_seconds = Retry.wait_seconds(e, facts.retry_rule, attempt: attempt, **limits)
        raise if wait_seconds.nil?

        sleep(wait_seconds)
        attempt += 1
        retry
      end
    end

    # One attempt, up to the headers of a good answer.
    def open(facts, deadline, key)
      uri = URI(@base_url + facts.path + query_text(facts.query))
      exchange = HttpExchange.new(facts.operation, uri, request(facts, uri, key), deadline.left_seconds)
      status = exchange.status
      return exchange if (200..299).cover?(status)

      raise redirect(facts.operation, exchange) if status < 400

      raise ApiErrors.of(facts.operation, exchange, Body.text(exchange, deadline, Body::ERROR_BYTES_MAX))
    end

    def redirect(operation, exchange)
      exchange.close
      InvalidResponseError.new(
        "Cannot do \"#{operation}\": the answer is a redirect; is base_url the address of the server itself?",
        exchange.status
      )
    end

    def request(facts, uri, key)
      body = facts.body
      made = Net::HTTPGenericRequest.new(facts.method, !body.nil?, true, uri.request_uri, headers(facts, key))
      made.body = json_text(body) unless body.nil?
      made
    end

    def json_text(body)
      JSON.generate(body)
    rescue JSON::GeneratorError, EncodingError => e
      raise ArgumentError, "Cannot send the body as JSON: #{e.class}"
    end

    def headers(facts, key)
      {
        'Authorization' => "Bearer #{@api_key}",
        'Accept' => accept_text(facts.accept || JSON_TYPE),
        # Net::HTTP would ask for compressed answers.
        'Accept-Encoding' => 'identity',
        'User-Agent' => "offhook-ruby/#{VERSION}",
        'Content-Type' => facts.body.nil? ? nil : JSON_TYPE,
        # RFC 9110, 8.6: for methods that usually have a body.
        'Content-Length' => facts.body.nil? && %w[POST PUT].include?(facts.method) ? '0' : nil,
        'If-Match' => header_text('if_match', facts.if_match),
        'X-Idempotency-Key' => key
      }.compact
    end

    # @raise [ArgumentError] when it would end its line
    def header_text(name, value)
      return value if value.nil? || value.match?(/\A[ -~]+\z/)

      raise ArgumentError, "Cannot use #{name}: expected visible ASCII characters"
    end

    # Errors are JSON, also where the answer is not.
    def accept_text(type)
      type == JSON_TYPE ? type : "#{type}, #{JSON_TYPE};q=0.9"
    end

    def query_text(query)
      given = (query || {}).compact
      given.empty? ? '' : "?#{URI.encode_www_form(given)}"
    end

    def options_of(options)
      RequestOptions.new(**(options || {}))
    end
  end
end
