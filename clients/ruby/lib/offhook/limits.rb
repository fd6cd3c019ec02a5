# frozen_string_literal: true

module Offhook
  # Limits of a client.
  class Limits
    attr_reader :timeout, :max_retries, :max_retry_after, :max_response_bytes

    # @raise [ArgumentError] when one of them is no limit
    def initialize(timeout:, max_retries:, max_retry_after:, max_response_bytes:)
      unless timeout.positive? && max_response_bytes.positive? && [max_retries, max_retry_after].min >= 0
        raise ArgumentError, 'Cannot use the limits: a time-out or size is not above 0, or another one is below'
      end

      @timeout = timeout
      @max_retries = max_retries
      @max_retry_after = max_retry_after
      @max_response_bytes = max_response_bytes
    end
  end
end
