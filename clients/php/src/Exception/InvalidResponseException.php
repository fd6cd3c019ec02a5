<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** An answer that no server of this interface gives: `baseUrl` may lead elsewhere. */
final class InvalidResponseException extends OffhookException
{
    public function __construct(
        string $message,
        private readonly int $status,
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }

    public function status(): int
    {
        return $this->status;
    }
}
