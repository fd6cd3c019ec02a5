# frozen_string_literal: true

module Offhook
  # What a method knows of its request. `operation` is the name of the method: paths have people's numbers in them, so errors
  # name that. `query` has the names of the interface; nil is left out. `paging` is `:offset` or `:cursor`. `accept` is the
  # content type of the answer, JSON unless given.
  RequestFacts = Struct.new(
    :operation, :method, :path, :retry_rule, :query, :body, :if_match, :paging, :accept,
    keyword_init: true
  ) do
    # The same with other parameters in its query.
    def with_query(changes)
      self.class.new(**to_h, query: { **(query || {}), **changes })
    end

    def with_accept(accept)
      self.class.new(**to_h, accept: accept)
    end
  end
end
