# frozen_string_literal: true

require_relative 'errors'

module Offhook
  # A list. It is Enumerable over every item, page after page, and asks for a page only when its first item is wanted; `lazy`
  # gives an Enumerator::Lazy. Nothing is sent before.
  class Pages
    include Enumerable

    # @param style `:offset` or `:cursor`
    # @yield the changes to the query of a page
    # @yieldreturn its answer
    def initialize(style, first_offset, &load)
      @style = style
      @first_offset = first_offset
      @load = load
    end

    # The first page as the server gives it, with `total` where it has one.
    def first_page
      page({})
    end

    # Yields every item.
    def each(&block)
      return enum_for(:each) unless block

      each_page { |page| page[:data].each(&block) }
      self
    end

    # Yields each page as the server gives it.
    def each_page
      return enum_for(:each_page) unless block_given?

      changes = {}
      until changes.nil?
        page = page(changes)
        yield page
        changes = next_changes(page, changes)
      end
      self
    end

    private

    def page(changes)
      page = @load.call(changes)
      raise not_a_page('it has no data') unless page.is_a?(Hash) && page[:data].is_a?(Array)

      page
    end

    # What the query of the next page changes; nil after the last one.
    def next_changes(page, asked)
      return next_cursor(page, asked[:cursor]) if @style == :cursor

      count = page[:data].length
      offset = (asked[:offset] || @first_offset) + count
      # An empty page ends a list that became shorter meanwhile.
      count.positive? && offset < page[:total].to_i ? { offset: offset } : nil
    end

    def next_cursor(page, asked)
      return nil unless page[:hasMore] == true

      cursor = page[:nextCursor]
      raise not_a_page('its cursor does not move on') if !cursor.is_a?(String) || cursor == asked

      { cursor: cursor }
    end

    def not_a_page(why)
      InvalidResponseError.new("Cannot read the page: #{why}", 200)
    end
  end
end
