# frozen_string_literal: true

require 'erb'

module Offhook
  # Values as segments of paths.
  module PathSegment
    # @raise [ArgumentError] when it is empty, or would lead to another path
    def self.of(name, value)
      text = value.to_s
      return ERB::Util.url_encode(text) unless ['', '.', '..'].include?(text)

      raise ArgumentError, "Cannot use \"#{text}\" as #{name}: it names no resource"
    end
  end
end
