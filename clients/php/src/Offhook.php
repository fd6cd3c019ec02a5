<?php

declare(strict_types=1);

namespace Offhook;

use Offhook\Generated\Resources;
use Offhook\Http\CurlHttpClient;
use Offhook\Http\HttpClient;
use Offhook\Internal\Limits;
use Offhook\Internal\Transport;

/** A client of one server, with one API key. It holds no connection of its own and needs no closing. */
final class Offhook extends Resources
{
    /**
     * @param string $apiKey `svc_live_…` or `svc_test_…`.
     * @param string $baseUrl Where the server is, such as `https://voice.example`.
     * @param float $timeoutSeconds Longest time for one attempt, the body included.
     * @param int $maxRetries Attempts after the first one.
     * @param float $maxRetryAfterSeconds A `Retry-After` over this is not waited for.
     * @param int $maxResponseBytes Longest JSON answer.
     * @param HttpClient|null $http Takes the place of curl.
     *
     * @throws \InvalidArgumentException when the key, the address or a limit cannot be used
     */
    public function __construct(
        #[\SensitiveParameter] string $apiKey,
        string $baseUrl,
        float $timeoutSeconds = 60.0,
        int $maxRetries = 2,
        float $maxRetryAfterSeconds = 60.0,
        int $maxResponseBytes = 32 * 1024 * 1024,
        ?HttpClient $http = null,
    ) {
        $limits = new Limits($timeoutSeconds, $maxRetries, $maxRetryAfterSeconds, $maxResponseBytes);
        parent::__construct(new Transport($apiKey, $baseUrl, $http ?? new CurlHttpClient(), $limits));
    }
}
