<?php

declare(strict_types=1);

namespace Offhook\Internal;

/** Limits of a client. */
final class Limits
{
    /** @throws \InvalidArgumentException when one of them is no limit */
    public function __construct(
        public readonly float $timeoutSeconds,
        public readonly int $maxRetries,
        public readonly float $maxRetryAfterSeconds,
        public readonly int $maxResponseBytes,
    ) {
        if ($timeoutSeconds <= 0 || $maxRetries < 0 || $maxRetryAfterSeconds < 0 || $maxResponseBytes < 1) {
            throw new \InvalidArgumentException('Cannot use the limits: a time-out or size is not above 0, or another one is below');
        }
    }
}
