<?php

declare(strict_types=1);

namespace Offhook\Internal;

use Offhook\Download;
use Offhook\Exception\InvalidResponseException;
use Offhook\Exception\OffhookException;
use Offhook\Http\HttpClient;
use Offhook\Http\HttpRequest;
use Offhook\Http\HttpResponse;
use Offhook\LiveEvents;
use Offhook\Pages;
use Offhook\RequestOptions;
use Offhook\Version;

/** Sends requests: retries, time-outs, and errors of answers. */
final class Transport
{
    private readonly string $baseUrl;

    /** @throws \InvalidArgumentException when the key or the address is none */
    public function __construct(
        #[\SensitiveParameter] private readonly string $apiKey,
        string $baseUrl,
        private readonly HttpClient $http,
        private readonly Limits $limits,
    ) {
        if (preg_match('/^[!-~]+$/D', $apiKey) !== 1) {
            throw new \InvalidArgumentException('Cannot use the API key: it is empty or has blanks');
        }
        $isUrl = preg_match('#^https?://[^\s?\#]+$#D', $baseUrl) === 1;
        if (!$isUrl || !is_string(parse_url($baseUrl, PHP_URL_HOST))) {
            throw new \InvalidArgumentException("Cannot use the base URL \"$baseUrl\": expected https://…");
        }
        $this->baseUrl = rtrim($baseUrl, '/');
    }

    /** Keeps the key out of dumps. */
    public function __debugInfo(): array
    {
        return ['baseUrl' => $this->baseUrl, 'limits' => $this->limits];
    }

    /**
     * The answer as JSON.
     *
     * @throws OffhookException
     */
    public function json(RequestFacts $facts, ?RequestOptions $options): mixed
    {
        return $this->repeated($facts, $options, fn (HttpResponse $response, Deadline $deadline): mixed =>
            Body::json($response, $deadline, $this->limits->maxResponseBytes));
    }

    /**
     * An answer without a body.
     *
     * @throws OffhookException
     */
    public function nothing(RequestFacts $facts, ?RequestOptions $options): void
    {
        $this->repeated($facts, $options, static fn (HttpResponse $response): mixed => $response->close());
    }

    /** @return Pages<mixed, array<string, mixed>> */
    public function pages(RequestFacts $facts, ?RequestOptions $options): Pages
    {
        $load =
            /** @param array<string, string|int> $changes */
            fn (array $changes): mixed => $this->json($facts->withQuery($changes), $options);
        $offset = $facts->query['offset'] ?? 0;

        return new Pages($load, is_int($offset) ? $offset : 0, $facts->cursor);
    }

    /** @throws OffhookException */
    public function download(RequestFacts $facts, ?RequestOptions $options): Download
    {
        $timeoutSeconds = $this->timeoutSeconds($options);
        $type = '#^' . preg_quote($facts->accept, '#') . '\b#i';

        return $this->repeated(
            $facts,
            $options,
            static function (HttpResponse $response) use ($type, $timeoutSeconds): Download {
                Body::requireType($response, $type);

                return new Download($response, $timeoutSeconds);
            },
        );
    }

    public function liveEvents(RequestFacts $facts, ?RequestOptions $options): LiveEvents
    {
        $timeoutSeconds = $this->timeoutSeconds($options);
        $asked = $facts->withAccept('text/event-stream');
        $open = fn (): HttpResponse => $this->open($asked, new Deadline($timeoutSeconds), null);

        return new LiveEvents($open, $timeoutSeconds, $this->maxRetries($options), $this->limits);
    }

    /**
     * Attempts until one succeeds, or its failure is for good.
     *
     * @template T
     *
     * @param \Closure(HttpResponse, Deadline): T $read
     *
     * @return T
     *
     * @throws OffhookException
     */
    private function repeated(RequestFacts $facts, ?RequestOptions $options, \Closure $read): mixed
    {
        $key = $facts->retry === RetryRule::Keyed ? $options?->idempotencyKey ?? Uuid::random() : null;
        for ($attempt = 0; ; ++$attempt) {
            try {
                $deadline = new Deadline($this->timeoutSeconds($options));

                return $read($this->open($facts, $deadline, $key), $deadline);
            } catch (OffhookException $error) {
                $maxRetries = $this->maxRetries($options);
                $after = $this->limits->maxRetryAfterSeconds;
                $waitSeconds = Retry::waitSeconds($error, $facts->retry, $attempt, $maxRetries, $after);
                if ($waitSeconds === null) {
                    throw $error;
                }
                Pause::seconds($waitSeconds);
            }
        }
    }

    /**
     * One attempt, up to the headers of a good answer.
     *
     * @throws OffhookException
     */
    private function open(RequestFacts $facts, Deadline $deadline, ?string $key): HttpResponse
    {
        $request = new HttpRequest(
            operation: $facts->operation,
            method: $facts->method,
            url: $this->baseUrl . $facts->path . self::queryText($facts->query),
            headers: $this->headers($facts, $key),
            body: $facts->body === null ? null : JsonBody::encode($facts->body, $facts->objects),
        );
        $response = $this->http->open($request, $deadline->leftSeconds());
        $status = $response->status();
        if ($status >= 200 && $status < 300) {
            return $response;
        }
        if ($status < 400) {
            throw new InvalidResponseException(
                "Cannot do \"{$facts->operation}\": the answer is a redirect; is baseUrl the address of the server itself?",
                $status,
            );
        }
        throw ApiErrors::of($facts->operation, $response, Body::text($response, $deadline, Body::ERROR_BYTES_MAX));
    }

    /** @return array<string, string> */
    private function headers(RequestFacts $facts, ?string $key): array
    {
        $isJson = $facts->accept === 'application/json';

        return [
            'Authorization' => "Bearer {$this->apiKey}",
            // Errors are JSON, also where the answer is not.
            'Accept' => $isJson ? $facts->accept : "{$facts->accept}, application/json;q=0.9",
            'User-Agent' => 'offhook-php/' . Version::TEXT,
            ...($facts->body === null ? [] : ['Content-Type' => 'application/json']),
            // RFC 9110, 8.6: for methods that usually have a body.
            ...($facts->body === null && in_array($facts->method, ['POST', 'PUT'], true) ? ['Content-Length' => '0'] : []),
            ...($facts->ifMatch === null ? [] : ['If-Match' => self::headerText('ifMatch', $facts->ifMatch)]),
            ...($key === null ? [] : ['X-Idempotency-Key' => $key]),
        ];
    }

    /** @throws \InvalidArgumentException when it would end its line */
    private static function headerText(string $name, string $value): string
    {
        if (preg_match('/^[ -~]+$/D', $value) === 1) {
            return $value;
        }
        throw new \InvalidArgumentException("Cannot use $name: expected visible ASCII characters");
    }

    /** @param array<string, string|int|bool|null> $query */
    private static function queryText(array $query): string
    {
        $given = array_filter($query, static fn (mixed $value): bool => $value !== null);
        $texts = array_map(static fn (string|int|bool $value): string => match ($value) {
            true => 'true',
            false => 'false',
            default => (string) $value,
        }, $given);

        return $texts === [] ? '' : '?' . http_build_query($texts, '', '&', PHP_QUERY_RFC3986);
    }

    private function timeoutSeconds(?RequestOptions $options): float
    {
        return $options?->timeoutSeconds ?? $this->limits->timeoutSeconds;
    }

    private function maxRetries(?RequestOptions $options): int
    {
        return $options?->maxRetries ?? $this->limits->maxRetries;
    }
}
