# frozen_string_literal: true

module Offhook
  VERSION = '0.1.0'
end
