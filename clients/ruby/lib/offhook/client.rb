# frozen_string_literal: true

require_relative 'limits'
require_relative 'path_segment'
require_relative 'request_facts'
require_relative 'transport'
require_relative 'generated/resources'

module Offhook
  # A client of one server, with one API key. It holds no connection of its own and needs no closing; threads may share it.
  class Client < Resources
    # @param api_key `svc_live_…` or `svc_test_…`
    # @param base_url where the server is, such as `https://voice.example`
    # @param timeout longest time for one attempt, the body included, in seconds
    # @param max_retries attempts after the first one
    # @param max_retry_after a `Retry-After` over this is not waited for, in seconds
    # @param max_response_bytes longest JSON answer
    # @raise [ArgumentError] when the key, the address or a limit cannot be used
    def initialize(api_key:, base_url:, timeout: 60, max_retries: 2, max_retry_after: 60,
                   max_response_bytes: 32 * 1024 * 1024)
      limits = Limits.new(
        timeout: timeout,
        max_retries: max_retries,
        max_retry_after: max_retry_after,
        max_response_bytes: max_response_bytes
      )
      super(Transport.new(api_key, base_url, limits))
    end
  end
end
