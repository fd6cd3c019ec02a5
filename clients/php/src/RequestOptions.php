<?php

declare(strict_types=1);

namespace Offhook;

/** Options of one request, instead of the client's. */
final class RequestOptions
{
    /**
     * @param float|null $timeoutSeconds Of downloads and event streams the longest wait for the headers, and for each piece.
     * @param string|null $idempotencyKey Of POST: 1 to 255 visible ASCII characters, a random UUID unless given.
     *
     * @throws \InvalidArgumentException when one of them cannot be used
     */
    public function __construct(
        public readonly ?float $timeoutSeconds = null,
        public readonly ?int $maxRetries = null,
        public readonly ?string $idempotencyKey = null,
    ) {
        if (($timeoutSeconds ?? 1) <= 0 || ($maxRetries ?? 0) < 0) {
            throw new \InvalidArgumentException('Cannot use the options: the time-out is not above 0, or maxRetries below it');
        }
        if ($idempotencyKey !== null && preg_match('/^[!-~]{1,255}$/D', $idempotencyKey) !== 1) {
            throw new \InvalidArgumentException('Cannot use the idempotency key: expected 1 to 255 visible ASCII characters');
        }
    }
}
