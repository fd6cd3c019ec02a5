# frozen_string_literal: true

module Offhook
  # Options of one request, instead of the client's. `timeout` is in seconds; of downloads and event streams the longest wait
  # for the headers, and for each piece. `idempotency_key` is for POST: 1 to 255 visible ASCII characters, a random UUID
  # unless given.
  class RequestOptions
    attr_reader :timeout, :max_retries, :idempotency_key

    # @raise [ArgumentError] when one of them cannot be used
    def initialize(timeout: nil, max_retries: nil, idempotency_key: nil)
      if (timeout || 1) <= 0 || (max_retries || 0).negative?
        raise ArgumentError, 'Cannot use the options: the timeout is not above 0, or max_retries below it'
      end
      unless idempotency_key.nil? || idempotency_key.match?(/\A[!-~]{1,255}\z/)
        raise ArgumentError, 'Cannot use the idempotency key: expected 1 to 255 visible ASCII characters'
      end

      @timeout = timeout
      @max_retries = max_retries
      @idempotency_key = idempotency_key
    end
  end
end
