# frozen_string_literal: true

require 'time'
require_relative 'errors'

module Offhook
  # When a failed attempt is repeated, and after which wait. The rule of an operation is `:always` (repeating does no harm),
  # `:keyed` (likewise, thanks to the idempotency key) or `:refused` (only where the server says that it did nothing).
  module Retry
    FIRST_WAIT_SECONDS = 0.5
    WAIT_SECONDS_MAX = 8.0
    # Above it, doubling has long passed the longest wait.
    DOUBLINGS_MAX = 10

    module_function

    # Wait before the next attempt; nil where there is to be none.
    #
    # @param attempt number of the attempt that failed, from 0
    def wait_seconds(error, rule, attempt:, max_retries:, max_retry_after:)
      return nil if attempt >= max_retries || !passing?(error, rule)

      asked = error.is_a?(ApiError) ? error.retry_after_seconds : nil
      return back_off_seconds(attempt) if asked.nil?

      asked > max_retry_after ? nil : asked
    end

    # Exponential back-off: half of it is certain, the other half is left to chance.
    def back_off_seconds(attempt)
      whole = [FIRST_WAIT_SECONDS * (2**[attempt, DOUBLINGS_MAX].min), WAIT_SECONDS_MAX].min
      whole * (0.5 + (rand / 2))
    end

    # Reads `Retry-After`: seconds, or a date.
    #
    # @see RFC 9110 section 10.2.3
    def after_seconds(header)
      return nil if header.nil?
      return header.to_i if header.match?(/\A\d{1,9}\z/)

      [0, (Time.httpdate(header) - Time.now).ceil].max
    rescue ArgumentError
      # Neither: the back-off counts.
      nil
    end

    def passing?(error, rule)
      case error
      when RateLimitedError, ServiceUnavailableError then true
      # With `:keyed`, the first attempt with the key is still running.
      when ConflictError then rule == :keyed && !error.retry_after_seconds.nil?
      when ServerError, ConnectionFailedError, RequestTimeoutError then rule != :refused
      else false
      end
    end
  end
end
