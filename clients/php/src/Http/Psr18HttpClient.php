<?php

declare(strict_types=1);

namespace Offhook\Http;

use Offhook\Exception\ConnectionFailedException;
use Psr\Http\Client\ClientExceptionInterface;
use Psr\Http\Client\ClientInterface;
use Psr\Http\Message\RequestFactoryInterface;
use Psr\Http\Message\RequestInterface;
use Psr\Http\Message\StreamFactoryInterface;

/**
 * Sends requests by any PSR-18 client. That must not follow redirects, and needs a time-out of its own, since PSR-18 has none
 * for single requests. Live events and sound that goes on need a client that gives bodies as they come.
 */
final class Psr18HttpClient implements HttpClient
{
    public function __construct(
        private readonly ClientInterface $client,
        private readonly RequestFactoryInterface $requests,
        private readonly StreamFactoryInterface $streams,
    ) {
    }

    public function open(HttpRequest $request, float $timeoutSeconds): HttpResponse
    {
        try {
            return new Psr18Response($request->operation, $this->client->sendRequest($this->psrRequest($request)));
        } catch (ClientExceptionInterface $error) {
            $message = "Cannot do \"{$request->operation}\": no connection, or it was cut";
            throw new ConnectionFailedException($message, 0, $error);
        }
    }

    private function psrRequest(HttpRequest $request): RequestInterface
    {
        $made = $this->requests->createRequest($request->method, $request->url);
        foreach ($request->headers as $name => $value) {
            $made = $made->withHeader($name, $value);
        }

        return $request->body === null ? $made : $made->withBody($this->streams->createStream($request->body));
    }
}
