# frozen_string_literal: true

module Offhook
  # Reads Server-Sent Events from pieces of bytes. Keeps what is not yet a whole event.
  #
  # @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
  class SseParser
    # An event is too long.
    class TooLong < StandardError; end

    # Reconnection delay that the server asks for; nil until it has.
    attr_reader :retry_ms

    # @param event_bytes_max length of an event at which the stream is given up
    def initialize(event_bytes_max)
      @event_bytes_max = event_bytes_max
      @retry_ms = nil
      @rest = String.new
      @event = ''
      @data = []
      @data_bytes = 0
    end

    # Gives the events that end in the piece, as `[name, data]`. A line ends with `\n`, `\r\n` or `\r`; a `\r` at the end
    # waits for what follows.
    #
    # @raise [TooLong]
    def push(piece)
      lines = (@rest + piece.b).split(/\r\n|\n|\r(?!\z)/n, -1)
      @rest = lines.pop || String.new
      events = lines.filter_map { |line| line.empty? ? event : field(line) }
      raise TooLong if @rest.bytesize + @data_bytes > @event_bytes_max

      events
    end

    private

    def field(line)
      name, value = line.split(':', 2)
      value = (value || '').delete_prefix(' ')
      case name
      when 'event' then @event = value
      when 'retry' then @retry_ms = value.to_i if value.match?(/\A\d{1,9}\z/)
      when 'data'
        @data << value
        @data_bytes += value.bytesize
      end
      nil
    end

    def event
      name = @event.empty? ? 'message' : @event
      data = @data
      @event = ''
      @data = []
      @data_bytes = 0
      data.empty? ? nil : [utf8(name), utf8(data.join("\n"))]
    end

    def utf8(bytes)
      bytes.dup.force_encoding(Encoding::UTF_8)
    end
  end
end
