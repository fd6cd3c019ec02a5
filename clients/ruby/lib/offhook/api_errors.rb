# frozen_string_literal: true

require 'json'
require_relative 'errors'
require_relative 'retry'

module Offhook
  # Makes errors of answers.
  module ApiErrors
    CLASS_OF_CODE = {
      'VALIDATION_ERROR' => ValidationError,
      'UNAUTHORIZED' => UnauthorizedError,
      'FORBIDDEN' => ForbiddenError,
      'NOT_FOUND' => NotFoundError,
      'AGENT_NOT_FOUND' => NotFoundError,
      'CALL_NOT_FOUND' => NotFoundError,
      'VOICE_NOT_FOUND' => NotFoundError,
      'WEBHOOK_ENDPOINT_NOT_FOUND' => NotFoundError,
      'CONFLICT' => ConflictError,
      'PRECONDITION_FAILED' => PreconditionFailedError,
      'UNPROCESSABLE' => UnprocessableError,
      'RATE_LIMITED' => RateLimitedError,
      'INTERNAL_ERROR' => ServerError,
      'SERVICE_UNAVAILABLE' => ServiceUnavailableError
    }.freeze

    CLASS_OF_STATUS = {
      400 => ValidationError,
      401 => UnauthorizedError,
      403 => ForbiddenError,
      404 => NotFoundError,
      409 => ConflictError,
      412 => PreconditionFailedError,
      422 => UnprocessableError,
      429 => RateLimitedError,
      503 => ServiceUnavailableError
    }.freeze

    module_function

    # The error of an answer from 400 on.
    #
    # @param body its text, an error envelope where the server itself answered
    def of(operation, exchange, body)
      status = exchange.status
      envelope = envelope_of(body)
      code = text_of(envelope[:code])
      class_of(code, status).new(
        text_of(envelope[:message]) || "Cannot do \"#{operation}\": the answer is #{status}",
        status: status,
        code: code,
        request_id: text_of(envelope[:requestId]) || exchange.header('x-request-id'),
        retry_after_seconds: Retry.after_seconds(exchange.header('retry-after')),
        details: details_of(envelope[:details])
      )
    end

    def class_of(code, status)
      CLASS_OF_CODE[code] || CLASS_OF_STATUS[status] || (status >= 500 ? ServerError : ApiError)
    end

    # The fields below `error`; none where the text is another thing.
    def envelope_of(body)
      answer = JSON.parse(body, symbolize_names: true)
      error = answer.is_a?(Hash) ? answer[:error] : nil
      error.is_a?(Hash) ? error : {}
    rescue JSON::ParserError
      # The page of a proxy: the status says enough.
      {}
    end

    def details_of(details)
      return [] unless details.is_a?(Array)

      details.grep(Hash)
    end

    def text_of(value)
      value.is_a?(String) ? value : nil
    end
  end
end
