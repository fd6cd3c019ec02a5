<?php

declare(strict_types=1);

namespace Offhook\Internal;

use Offhook\Exception\ApiException;
use Offhook\Exception\ConflictException;
use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\OffhookException;
use Offhook\Exception\RateLimitedException;
use Offhook\Exception\RequestTimeoutException;
use Offhook\Exception\ServerException;
use Offhook\Exception\ServiceUnavailableException;

/** When a failed attempt is repeated, and after which wait. */
final class Retry
{
    private const FIRST_WAIT_SECONDS = 0.5;
    private const WAIT_SECONDS_MAX = 8.0;
    /** Above it, doubling has long passed the longest wait. */
    private const DOUBLINGS_MAX = 10;

    /**
     * Wait before the next attempt; null where there is to be none.
     *
     * @param int $attempt Number of the attempt that failed, from 0.
     */
    public static function waitSeconds(
        OffhookException $error,
        RetryRule $rule,
        int $attempt,
        int $maxRetries,
        float $maxRetryAfterSeconds,
    ): ?float {
        if ($attempt >= $maxRetries || !self::isPassing($error, $rule)) {
            return null;
        }
        $askedSeconds = $error instanceof ApiException ? $error->retryAfterSeconds : null;
        if ($askedSeconds === null) {
            return self::backOffSeconds($attempt);
        }

        return $askedSeconds > $maxRetryAfterSeconds ? null : (float) $askedSeconds;
    }

    /** Exponential back-off: half of it is certain, the other half is left to chance. */
    public static function backOffSeconds(int $attempt): float
    {
        $wholeSeconds = min(self::FIRST_WAIT_SECONDS * 2 ** min($attempt, self::DOUBLINGS_MAX), self::WAIT_SECONDS_MAX);

        return $wholeSeconds * (0.5 + mt_rand() / mt_getrandmax() / 2);
    }

    /**
     * Reads `Retry-After`: seconds, or a date.
     *
     * @see RFC 9110 section 10.2.3
     */
    public static function afterSeconds(?string $header): ?int
    {
        if ($header === null) {
            return null;
        }
        if (preg_match('/^\d{1,9}$/D', $header) === 1) {
            return (int) $header;
        }
        $at = \DateTimeImmutable::createFromFormat('D, d M Y H:i:s \G\M\T', $header, new \DateTimeZone('UTC'));

        return $at === false ? null : max(0, $at->getTimestamp() - time());
    }

    private static function isPassing(OffhookException $error, RetryRule $rule): bool
    {
        if ($error instanceof RateLimitedException || $error instanceof ServiceUnavailableException) {
            return true;
        }
        if ($rule === RetryRule::Refused) {
            return false;
        }
        if ($error instanceof ConflictException) {
            // The first attempt with the key is still running.
            return $rule === RetryRule::Keyed && $error->retryAfterSeconds !== null;
        }

        return $error instanceof ServerException
            || $error instanceof ConnectionFailedException
            || $error instanceof RequestTimeoutException;
    }
}
