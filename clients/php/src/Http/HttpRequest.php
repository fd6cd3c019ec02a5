<?php

declare(strict_types=1);

namespace Offhook\Http;

/** A request as it is sent. */
final class HttpRequest
{
    /**
     * @param string $operation Name of the method, such as `agents.get`; URLs have people's numbers in them, so errors name this.
     * @param array<string, string> $headers
     */
    public function __construct(
        public readonly string $operation,
        public readonly string $method,
        public readonly string $url,
        public readonly array $headers,
        public readonly ?string $body,
    ) {
    }
}
