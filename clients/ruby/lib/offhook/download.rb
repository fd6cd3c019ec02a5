# frozen_string_literal: true

module Offhook
  # What is being downloaded: a file, or sound that goes on. It can be read once, whole or piece by piece, in the thread that
  # asked for it.
  class Download
    include Enumerable

    attr_reader :content_type

    # nil where the server does not say it, as for the sound of a call in progress.
    attr_reader :size_bytes

    def initialize(exchange, timeout)
      @exchange = exchange
      @timeout = timeout
      @content_type = exchange.header('content-type') || ''
      @size_bytes = exchange.header('content-length')&.to_i
    end

    # Yields each piece; leaving the block early ends the download.
    #
    # @raise [ConnectionFailedError, RequestTimeoutError]
    def each
      return enum_for(:each) unless block_given?

      begin
        while (piece = @exchange.read(@timeout))
          yield piece
        end
      ensure
        close
      end
      self
    end

    # The whole, in memory.
    def read
      each_with_object(String.new) { |piece, whole| whole << piece }
    end

    # Writes the whole to a file, which must not exist yet.
    #
    # @raise [SystemCallError] when the file cannot be written
    def save(path)
      File.open(path, File::WRONLY | File::CREAT | File::EXCL | File::BINARY) do |file|
        each { |piece| file.write(piece) }
      end
      nil
    ensure
      close
    end

    # Ends the download. Safe to call twice, and not needed after its end.
    def close
      @exchange.close
    end
  end
end
