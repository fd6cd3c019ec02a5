<?php

declare(strict_types=1);

namespace Offhook\Http;

/** Sends requests by PHP's curl extension, each on a connection of its own. */
final class CurlHttpClient implements HttpClient
{
    /** @param array<int, mixed> $options Further options of curl, such as `CURLOPT_CAINFO` or `CURLOPT_PROXY`. */
    public function __construct(private readonly array $options = [])
    {
    }

    public function open(HttpRequest $request, float $timeoutSeconds): HttpResponse
    {
        return new CurlResponse($request, $this->options, $timeoutSeconds);
    }
}
