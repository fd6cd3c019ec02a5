# frozen_string_literal: true

require 'json'
require 'openssl'
require_relative 'body'
require_relative 'errors'

module Offhook
  # Checks that webhook deliveries come from the server, and are new.
  module Webhooks
    # A delivery must be no older.
    AGE_SECONDS_MAX = 300

    module_function

    # Gives the event of a delivery that is genuine: HMAC-SHA256 over the timestamp, a dot and the raw body, compared in
    # constant time, at most five minutes old.
    #
    # @param raw_body as it came, such as `request.raw_post` of Rails or `request.body.read` of Rack
    # @param headers names in any case, or as in the environment of Rack
    # @param secret `whsec_…`; several while it is being changed
    # @raise [WebhookSignatureError] when it is not; `reason` says why
    def verify(raw_body, headers, secret, now: Time.now.to_i)
      timestamp = header(headers, 'x-service-timestamp')
      signature = header(headers, 'x-service-signature').downcase
      unless signed?("#{timestamp}.".b + raw_body.b, signature, Array(secret))
        raise WebhookSignatureError.new('its signature is not of this secret and body', 'wrong-signature')
      end
      raise WebhookSignatureError.new("its timestamp is over #{AGE_SECONDS_MAX} seconds away", 'too-old') if old?(timestamp, now)

      event_of(raw_body)
    end

    def signed?(content, signature, secrets)
      secrets.map do |secret|
        raise ArgumentError, 'Cannot verify a webhook: the secret is empty' if secret.empty?

        same?(OpenSSL::HMAC.hexdigest('SHA256', secret, content), signature)
      end.any?
    end

    # In constant time.
    def same?(expected, given)
      expected.bytesize == given.bytesize && OpenSSL.fixed_length_secure_compare(expected, given)
    end

    def old?(timestamp, now)
      !timestamp.match?(/\A\d{1,12}\z/) || (now - timestamp.to_i).abs > AGE_SECONDS_MAX
    end

    def event_of(raw_body)
      event = Body.parsed(raw_body.dup.force_encoding(Encoding::UTF_8))
      return event if event.is_a?(Hash) && event[:event].is_a?(String)

      raise WebhookSignatureError.new('its body names no event', 'not-an-event')
    rescue JSON::ParserError
      raise WebhookSignatureError.new('its body is no JSON', 'not-an-event')
    end

    # Rack has `HTTP_X_SERVICE_SIGNATURE` for `X-Service-Signature`.
    def header(headers, name)
      found = headers.select { |key, _value| key.to_s.downcase.tr('_', '-').delete_prefix('http-') == name }
      values = found.flat_map { |_key, value| Array(value) }
      return values.first if values.length == 1 && values.first.is_a?(String)

      raise WebhookSignatureError.new("it has no #{name}, or several", 'missing-header')
    end
  end
end
