# frozen_string_literal: true

# Client of Offhook, a self-hosted phone server for voice agents.
module Offhook
end

require_relative 'offhook/version'
require_relative 'offhook/errors'
require_relative 'offhook/client'
require_relative 'offhook/webhooks'
