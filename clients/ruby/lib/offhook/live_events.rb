# frozen_string_literal: true

require_relative 'body'
require_relative 'errors'
require_relative 'retry'
require_relative 'sse_parser'

module Offhook
  # What happens on calls, as it happens: an event stream that connects again after a cut. Nothing is sent before the first
  # event is asked for.
  class LiveEvents
    include Enumerable

    RECONNECT_MS_MAX = 60_000

    # @yieldreturn the exchange of a new connection
    def initialize(timeout, max_retries, limits, &open)
      @timeout = timeout
      @max_retries = max_retries
      @limits = limits
      @open = open
      # What the server asks for, unless it says otherwise.
      @reconnect_ms = 2_000
    end

    # Yields each event, `{event:, data:}`; leaving the block ends the connection.
    def each
      return enum_for(:each) unless block_given?

      cuts = 0
      exchange = nil
      loop do
        begin
          exchange ||= connected
          events = events_of(exchange)
        rescue Error => e
          exchange&.close
          exchange = nil
          sleep(wait_seconds(e, cuts))
          cuts += 1
          next
        end
        # Outside of the rescue: errors of the block are none of the stream.
        events.each do |event|
          cuts = 0
          yield event
        end
      end
    ensure
      exchange&.close
    end

    private

    def connected
      exchange = @open.call
      Body.require_type(exchange, %r{\Atext/event-stream\b}i)
      @parser = SseParser.new(@limits.max_response_bytes)
      exchange
    end

    # The events that end in the next piece.
    def events_of(exchange)
      piece = exchange.read(@timeout)
      raise ConnectionFailedError, 'Cannot go on with the events: the server ended the stream' if piece.nil?

      events = @parser.push(piece).map { |name, data| { event: name, data: parsed(data, exchange.status) } }
      @reconnect_ms = @parser.retry_ms || @reconnect_ms
      events
    rescue SseParser::TooLong
      raise InvalidResponseError.new('Cannot read an event: it is too long', exchange.status)
    end

    def parsed(data, status)
      Body.parsed(data)
    rescue JSON::ParserError
      raise InvalidResponseError.new('Cannot read an event: it is no JSON', status)
    end

    # @raise the error itself, where it is for good
    def wait_seconds(error, cuts)
      limits = { max_retries: @max_retries, max_retry_after: @limits.max_retry_after }
      wait = Retry.wait_seconds(error, :always, attempt: cuts, **limits)
      raise error if wait.nil?
      return wait unless error.is_a?(ConnectionFailedError)

      soon = [@reconnect_ms, RECONNECT_MS_MAX].min / 1000.0
      # The first time what the server asks for; then at least the back-off.
      cuts.zero? ? soon : [soon, Retry.back_off_seconds(cuts - 1)].max
    end
  end
end
