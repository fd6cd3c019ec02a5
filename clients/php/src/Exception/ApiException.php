<?php

declare(strict_types=1);

namespace Offhook\Exception;

/**
 * The server answered with an error.
 *
 * @phpstan-type ErrorDetail array{path: string, message: string}
 */
class ApiException extends OffhookException
{
    /**
     * @param string|null $errorCode `error.code`; null where the answer is not the server's own, such as a proxy's. A newer
     * server may have codes beyond `ErrorCode`.
     * @param string|null $requestId Name it in reports to the operator of the server.
     * @param list<ErrorDetail> $details Of a 400: one for each wrong field.
     */
    final public function __construct(
        string $message,
        private readonly int $status,
        public readonly ?string $errorCode,
        public readonly ?string $requestId,
        public readonly ?int $retryAfterSeconds,
        public readonly array $details,
    ) {
        parent::__construct($message);
    }

    public function status(): int
    {
        return $this->status;
    }
}
