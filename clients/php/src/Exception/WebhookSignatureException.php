<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** A webhook delivery that must not be trusted. Answer it with 400. */
final class WebhookSignatureException extends OffhookException
{
    /** @param 'missing-header'|'wrong-signature'|'too-old'|'not-an-event' $reason */
    public function __construct(
        string $why,
        public readonly string $reason,
        ?\Throwable $previous = null,
    ) {
        parent::__construct("Cannot trust the webhook: $why", 0, $previous);
    }
}
