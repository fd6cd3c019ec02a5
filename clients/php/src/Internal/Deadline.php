<?php

declare(strict_types=1);

namespace Offhook\Internal;

/** The end of an attempt's time. */
final class Deadline
{
    private readonly float $endsAt;

    public function __construct(float $seconds)
    {
        $this->endsAt = self::now() + $seconds;
    }

    /** 0 after its end. */
    public function leftSeconds(): float
    {
        return max(0.0, $this->endsAt - self::now());
    }

    /** A clock that is never set. */
    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
