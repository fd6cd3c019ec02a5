<?php

declare(strict_types=1);

namespace Offhook;

use Offhook\Exception\WebhookSignatureException;
use Offhook\Generated\Types;

/**
 * Checks that webhook deliveries come from the server, and are new.
 *
 * @phpstan-import-type WebhookEvent from Types
 */
final class Webhooks
{
    /** A delivery must be no older. */
    private const AGE_SECONDS_MAX = 300;

    /**
     * Gives the event of a delivery that is genuine: HMAC-SHA256 over the timestamp, a dot and the raw body, compared in
     * constant time, at most five minutes old.
     *
     * @param string $rawBody As it came, such as `file_get_contents('php://input')`.
     * @param array<array-key, string|array<array-key, string>> $headers Such as those of `getallheaders()` or of a PSR-7
     * request; names in any case.
     * @param string|list<string> $secret `whsec_…`; several while it is being changed.
     *
     * @return WebhookEvent
     *
     * @throws WebhookSignatureException when it is not; `reason` says why
     */
    public static function verify(
        string $rawBody,
        array $headers,
        #[\SensitiveParameter] string|array $secret,
        ?int $nowSeconds = null,
    ): array {
        $timestamp = self::header($headers, 'x-service-timestamp');
        $signature = strtolower(self::header($headers, 'x-service-signature'));
        if (!self::isSigned("$timestamp.$rawBody", $signature, (array) $secret)) {
            throw new WebhookSignatureException('its signature is not of this secret and body', 'wrong-signature');
        }
        if (self::isOld($timestamp, $nowSeconds ?? time())) {
            $age = self::AGE_SECONDS_MAX;
            throw new WebhookSignatureException("its timestamp is over $age seconds away", 'too-old');
        }

        return self::eventOf($rawBody);
    }

    /** @param array<array-key, string> $secrets */
    private static function isSigned(string $content, string $signature, array $secrets): bool
    {
        $isGood = false;
        foreach ($secrets as $secret) {
            if ($secret === '') {
                throw new \InvalidArgumentException('Cannot verify a webhook: the secret is empty');
            }
            if (hash_equals(hash_hmac('sha256', $content, $secret), $signature)) {
                $isGood = true;
            }
        }

        return $isGood;
    }

    private static function isOld(string $timestamp, int $nowSeconds): bool
    {
        return preg_match('/^\d{1,12}$/D', $timestamp) !== 1
            || abs($nowSeconds - (int) $timestamp) > self::AGE_SECONDS_MAX;
    }

    /** @return WebhookEvent */
    private static function eventOf(string $rawBody): array
    {
        try {
            $event = json_decode($rawBody, true, 512, JSON_THROW_ON_ERROR);
        } catch (\JsonException $error) {
            throw new WebhookSignatureException('its body is no JSON', 'not-an-event', $error);
        }
        if (!is_array($event) || !is_string($event['event'] ?? null)) {
            throw new WebhookSignatureException('its body names no event', 'not-an-event');
        }

        /** @var WebhookEvent $event */
        return $event;
    }

    /** @param array<array-key, string|array<array-key, string>> $headers */
    private static function header(array $headers, string $name): string
    {
        $values = [];
        foreach ($headers as $key => $value) {
            if (strtolower((string) $key) === $name) {
                array_push($values, ...array_values((array) $value));
            }
        }
        if (count($values) === 1) {
            return $values[0];
        }
        throw new WebhookSignatureException("it has no $name, or several", 'missing-header');
    }
}
