# frozen_string_literal: true

require 'net/http'
require 'openssl'
require 'timeout'
require_relative 'deadline'
require_relative 'errors'

module Offhook
  # One request on a connection of its own, and its answer, which is read piece by piece.
  #
  # Net::HTTP gives the pieces to a block; a fiber turns that round, so that the caller asks for each. Pieces must therefore be
  # read in the thread that sent the request.
  class HttpExchange
    # Raised inside Net::HTTP when the time is over.
    class Late < StandardError; end

    TIMEOUTS = [Late, Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout].freeze
    FAILURES = [
      SocketError, SystemCallError, IOError, OpenSSL::SSL::SSLError,
      Net::ProtocolError, Net::HTTPBadResponse, Net::HTTPHeaderSyntaxError
    ].freeze

    # Waits for the headers.
    #
    # @raise [ConnectionFailedError, RequestTimeoutError]
    def initialize(operation, uri, request, seconds)
      @operation = operation
      @http = connection(uri, seconds)
      # Blocking: schedulers of fibers must not resume it.
      @fiber = Fiber.new(blocking: true) { exchange(request) }
      @received_bytes = 0
      @ended = false
      deadline = Deadline.new(seconds)
      @response = resume(deadline.left_seconds)
      @first_piece = sized? ? nil : first_piece(deadline)
    end

    def status
      @response.code.to_i
    end

    def header(name)
      @response[name]
    end

    # The next piece of the body; nil after the last one.
    #
    # @raise [ConnectionFailedError, RequestTimeoutError]
    def read(seconds)
      return nil if @ended

      piece = @first_piece || resume(seconds)
      @first_piece = nil
      if piece.nil?
        finish
      else
        @received_bytes += piece.bytesize
      end
      piece
    end

    # Ends the connection. Safe to call twice.
    def close
      @ended = true
      @http.finish if @http.started?
    rescue IOError
      # Net::HTTP has ended it meanwhile.
      nil
    end

    private

    def connection(uri, seconds)
      http = Net::HTTP.new(uri.hostname, uri.port)
      http.use_ssl = uri.scheme == 'https'
      # Net::HTTP would repeat requests by itself.
      http.max_retries = 0
      http.open_timeout = http.read_timeout = http.write_timeout = seconds
      http
    end

    # Whether the headers say where the body ends.
    def sized?
      !@response.content_length.nil? || @response.chunked? || !@response.class.body_permitted?
    end

    # Net::HTTP takes headers for whole when the connection ends within them: no body follows then.
    def first_piece(deadline)
      piece = resume(deadline.left_seconds)
      return piece unless piece.nil?

      close
      raise cut
    end

    def exchange(request)
      @http.request(request) do |response|
        Fiber.yield(response)
        response.read_body { |piece| Fiber.yield(piece) unless piece.empty? }
      end
      nil
    end

    # Lets Net::HTTP work until it has something.
    def resume(seconds)
      raise Late if seconds <= 0

      @http.read_timeout = seconds
      Timeout.timeout(seconds, Late) { @fiber.resume }
    rescue *TIMEOUTS
      close
      raise RequestTimeoutError, "Cannot do \"#{@operation}\": nothing came in time"
    rescue *FAILURES => e
      close
      raise ConnectionFailedError, "Cannot do \"#{@operation}\": no connection, or it was cut (#{e.class})"
    end

    # Net::HTTP takes a body for whole when the connection ends.
    def finish
      close
      expected_bytes = @response.content_length
      raise cut if !expected_bytes.nil? && @received_bytes < expected_bytes && @response.class.body_permitted?
    end

    def cut
      ConnectionFailedError.new("Cannot do \"#{@operation}\": the connection was cut before the answer was whole")
    end
  end
end
