# frozen_string_literal: true

module Offhook
  # The end of an attempt's time, by a clock that is never set.
  class Deadline
    def initialize(seconds)
      @ends_at = now + seconds
    end

    # 0 after its end.
    def left_seconds
      [0, @ends_at - now].max
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
