# frozen_string_literal: true

require 'json'
require_relative 'errors'

module Offhook
  # Reads bodies of answers.
  module Body
    # Longest body of an error that is read.
    ERROR_BYTES_MAX = 1024 * 1024

    JSON_TYPE = %r{\Aapplication/(?:[\w.-]+\+)?json\b}i.freeze

    module_function

    # @raise [InvalidResponseError] when it is longer than `size_bytes_max`
    def text(exchange, deadline, size_bytes_max)
      text = String.new
      while (piece = exchange.read(deadline.left_seconds))
        text << piece
        next if text.bytesize <= size_bytes_max

        exchange.close
        raise InvalidResponseError.new("Cannot read the answer: it is over #{size_bytes_max} bytes long", exchange.status)
      end
      text.force_encoding(Encoding::UTF_8)
    end

    # @raise [InvalidResponseError] when it is no JSON
    def json(exchange, deadline, size_bytes_max)
      require_type(exchange, JSON_TYPE)
      parsed(text(exchange, deadline, size_bytes_max))
    rescue JSON::ParserError
      raise InvalidResponseError.new('Cannot read the answer: it is no well-formed JSON', exchange.status)
    end

    # JSON with symbols as names.
    #
    # @raise [JSON::ParserError]
    def parsed(text)
      raise JSON::ParserError, 'no UTF-8' unless text.valid_encoding?

      JSON.parse(text, symbolize_names: true)
    end

    # @raise [InvalidResponseError] when the answer has another content type
    def require_type(exchange, expected)
      found = exchange.header('content-type') || ''
      return if found.match?(expected)

      exchange.close
      raise InvalidResponseError.new("Cannot read the answer: its content type is \"#{found[0, 100]}\"", exchange.status)
    end
  end
end
