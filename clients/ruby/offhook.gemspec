# frozen_string_literal: true

require_relative 'lib/offhook/version'

Gem::Specification.new do |spec|
  spec.name = 'offhook'
  spec.version = Offhook::VERSION
  spec.summary = 'Client of Offhook, a self-hosted phone server for voice agents.'
  spec.authors = ['The Offhook maintainers']
  spec.license = 'Apache-2.0'
  spec.required_ruby_version = '>= 3.0'
  spec.files = Dir['lib/**/*.rb', 'sig/**/*.rbs', 'README.md', 'CHANGELOG.md', 'LICENSE']
  spec.require_paths = ['lib']
  spec.metadata = { 'rubygems_mfa_required' => 'true' }
end
