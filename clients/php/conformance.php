<?php

// Driver of the conformance test. See clients/conformance/README.md.

declare(strict_types=1);

require __DIR__ . '/autoload.php';

use Offhook\Download;
use Offhook\Exception\ApiException;
use Offhook\Exception\OffhookException;
use Offhook\Exception\WebhookSignatureException;
use Offhook\Http\Psr18HttpClient;
use Offhook\Offhook;
use Offhook\Pages;
use Offhook\RequestOptions;
use Offhook\Webhooks;

$client = null;

/** @param array<string, mixed> $command */
function run(array $command): mixed
{
    global $client;
    switch ($command['do']) {
        case 'open':
            $client = opened($command);

            return null;
        case 'call':
            return readable(invoke($client, $command));
        case 'list':
            return firstOf(invoke($client, $command), $command['max']);
        case 'stream':
            return firstOf(invoke($client, $command), $command['count']);
        case 'verify':
            return Webhooks::verify($command['body'], $command['headers'], $command['secret'], $command['now']);
        default:
            throw new LogicException("No command \"{$command['do']}\"");
    }
}

function opened(array $command): Offhook
{
    $names = ['apiKey', 'baseUrl', 'timeoutSeconds', 'maxRetries', 'maxRetryAfterSeconds', 'maxResponseBytes'];

    $http = ($command['flavour'] ?? '') === 'PSR-18' ? psr18Client() : null;

    return new Offhook(...array_intersect_key($command, array_flip($names)), http: $http);
}

/** Guzzle, which gives bodies as they come when it is asked to. */
function psr18Client(): Psr18HttpClient
{
    require_once 'GuzzleHttp/autoload.php';
    $options = ['stream' => true, 'allow_redirects' => false, 'timeout' => 10, 'read_timeout' => 10];
    $factory = new GuzzleHttp\Psr7\HttpFactory();

    return new Psr18HttpClient(new GuzzleHttp\Client($options), $factory, $factory);
}

/** Calls the method that the command names. */
function invoke(Offhook $client, array $command): mixed
{
    [$resource, $verb] = explode('.', $command['operation']);
    $options = $command['options'] ?? [];
    $named = [
        ...array_intersect_key($command, ['body' => true]),
        ...$command['query'] ?? [],
        ...array_intersect_key($options, ['ifMatch' => true]),
        'options' => new RequestOptions(...array_diff_key($options, ['ifMatch' => true])),
    ];

    return $client->{$resource}->{$verb}(...$command['path'] ?? [], ...$named);
}

function firstOf(iterable $items, int $count): array
{
    $first = [];
    foreach ($items as $item) {
        $first[] = $item;
        if (count($first) === $count) {
            break;
        }
    }

    return $first;
}

/** A download by what it has, and a list by its first page. */
function readable(mixed $value): mixed
{
    if ($value instanceof Pages) {
        return $value->firstPage();
    }
    if (!$value instanceof Download) {
        return $value;
    }
    $whole = $value->contents();

    return [
        'contentType' => $value->contentType,
        'sizeBytes' => strlen($whole),
        'sha256' => hash('sha256', $whole),
    ];
}

function errorOf(OffhookException $error): array
{
    return [
        'kind' => preg_replace('/Exception$/', '', (new ReflectionClass($error))->getShortName()),
        'message' => $error->getMessage(),
        'status' => $error->status(),
        'code' => $error instanceof ApiException ? $error->errorCode : null,
        'requestId' => $error instanceof ApiException ? $error->requestId : null,
        'retryAfterSeconds' => $error instanceof ApiException ? $error->retryAfterSeconds : null,
        'details' => $error instanceof ApiException ? $error->details : [],
        'reason' => $error instanceof WebhookSignatureException ? $error->reason : null,
    ];
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $answer = ['ok' => true, 'value' => run(json_decode($line, true, 512, JSON_THROW_ON_ERROR))];
    } catch (OffhookException $error) {
        $answer = ['ok' => false, 'error' => errorOf($error)];
    }
    fwrite(STDOUT, json_encode($answer, JSON_THROW_ON_ERROR) . "\n");
}
