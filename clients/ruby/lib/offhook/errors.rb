# frozen_string_literal: true

module Offhook
  # Base of all errors of this library, but those of wrong arguments (`ArgumentError`).
  class Error < StandardError
    # HTTP status; nil where there was no answer.
    def status
      nil
    end
  end

  # The server answered with an error.
  class ApiError < Error
    attr_reader :status

    # `error.code`; nil where the answer is not the server's own, such as a proxy's. A newer server may have further codes.
    attr_reader :code

    # Name it in reports to the operator of the server.
    attr_reader :request_id

    attr_reader :retry_after_seconds

    # Of a 400: `{path:, message:}` for each wrong field.
    attr_reader :details

    def initialize(message, status:, code:, request_id:, retry_after_seconds:, details:)
      super(message)
      @status = status
      @code = code
      @request_id = request_id
      @retry_after_seconds = retry_after_seconds
      @details = details
    end
  end

  # 400: fields of the request are wrong; `details` names them.
  class ValidationError < ApiError; end

  # 401: the API key is missing, unknown or revoked.
  class UnauthorizedError < ApiError; end

  # 403: the key lacks the scope, or a signed link is not genuine.
  class ForbiddenError < ApiError; end

  # 404: no such resource; `code` says of which kind.
  class NotFoundError < ApiError; end

  # 409: the resource exists already, or its state forbids the change.
  class ConflictError < ApiError; end

  # 412: the resource is newer than the version of `if_match`.
  class PreconditionFailedError < ApiError; end

  # 422: well-formed, but cannot be carried out.
  class UnprocessableError < ApiError; end

  # 429: the requests of the hour are used up; see `retry_after_seconds`.
  class RateLimitedError < ApiError; end

  # 500, and every 5xx without a class of its own.
  class ServerError < ApiError; end

  # 503: the server is full, stopping, or its database is unavailable.
  class ServiceUnavailableError < ApiError; end

  # No connection, or one that was cut before the answer was whole. `cause` says why.
  class ConnectionFailedError < Error; end

  # An attempt took longer than the time-out.
  class RequestTimeoutError < Error; end

  # An answer that no server of this interface gives: `base_url` may lead elsewhere.
  class InvalidResponseError < Error
    attr_reader :status

    def initialize(message, status)
      super(message)
      @status = status
    end
  end

  # A webhook delivery that must not be trusted. Answer it with 400.
  class WebhookSignatureError < Error
    # `missing-header`, `wrong-signature`, `too-old` or `not-an-event`.
    attr_reader :reason

    def initialize(why, reason)
      super("Cannot trust the webhook: #{why}")
      @reason = reason
    end
  end
end
