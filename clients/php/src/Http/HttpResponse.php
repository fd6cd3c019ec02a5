<?php

declare(strict_types=1);

namespace Offhook\Http;

use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\RequestTimeoutException;

/** An answer whose headers are there; its body is read piece by piece. */
interface HttpResponse
{
    public function status(): int;

    /** @param string $name In lower case. */
    public function header(string $name): ?string;

    /**
     * The next piece of the body; empty after the last one.
     *
     * @throws ConnectionFailedException when the connection is cut
     * @throws RequestTimeoutException when nothing comes in time
     */
    public function read(float $timeoutSeconds): string;

    /** Ends the connection. Safe to call twice. */
    public function close(): void;
}
