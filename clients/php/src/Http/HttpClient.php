<?php

declare(strict_types=1);

namespace Offhook\Http;

use Offhook\Exception\ConnectionFailedException;
use Offhook\Exception\RequestTimeoutException;

/** Sends one request. It neither follows redirects nor repeats anything: the library decides that. */
interface HttpClient
{
    /**
     * Waits for the headers of the answer.
     *
     * @throws ConnectionFailedException when there is no connection, or it is cut
     * @throws RequestTimeoutException when the headers are not there in time
     */
    public function open(HttpRequest $request, float $timeoutSeconds): HttpResponse;
}
