<?php

declare(strict_types=1);

namespace Offhook\Internal;

/** Waits between attempts. */
final class Pause
{
    public static function seconds(float $seconds): void
    {
        usleep(max(0, (int) ($seconds * 1e6)));
    }
}
