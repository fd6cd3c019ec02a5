<?php

declare(strict_types=1);

namespace Offhook\Internal;

use Offhook\Exception\ApiException;
use Offhook\Exception\ConflictException;
use Offhook\Exception\ForbiddenException;
use Offhook\Exception\NotFoundException;
use Offhook\Exception\PreconditionFailedException;
use Offhook\Exception\RateLimitedException;
use Offhook\Exception\ServerException;
use Offhook\Exception\ServiceUnavailableException;
use Offhook\Exception\UnauthorizedException;
use Offhook\Exception\UnprocessableException;
use Offhook\Exception\ValidationException;
use Offhook\Generated\Types;
use Offhook\Http\HttpResponse;

/**
 * Makes errors of answers.
 *
 * @phpstan-import-type ErrorCode from Types
 */
final class ApiErrors
{
    /** @var array<ErrorCode, class-string<ApiException>> */
    private const CLASS_OF_CODE = [
        'VALIDATION_ERROR' => ValidationException::class,
        'UNAUTHORIZED' => UnauthorizedException::class,
        'FORBIDDEN' => ForbiddenException::class,
        'NOT_FOUND' => NotFoundException::class,
        'AGENT_NOT_FOUND' => NotFoundException::class,
        'CALL_NOT_FOUND' => NotFoundException::class,
        'VOICE_NOT_FOUND' => NotFoundException::class,
        'WEBHOOK_ENDPOINT_NOT_FOUND' => NotFoundException::class,
        'CONFLICT' => ConflictException::class,
        'PRECONDITION_FAILED' => PreconditionFailedException::class,
        'UNPROCESSABLE' => UnprocessableException::class,
        'RATE_LIMITED' => RateLimitedException::class,
        'INTERNAL_ERROR' => ServerException::class,
        'SERVICE_UNAVAILABLE' => ServiceUnavailableException::class,
    ];

    /** @var array<int, class-string<ApiException>> */
    private const CLASS_OF_STATUS = [
        400 => ValidationException::class,
        401 => UnauthorizedException::class,
        403 => ForbiddenException::class,
        404 => NotFoundException::class,
        409 => ConflictException::class,
        412 => PreconditionFailedException::class,
        422 => UnprocessableException::class,
        429 => RateLimitedException::class,
        503 => ServiceUnavailableException::class,
    ];

    /**
     * The error of an answer from 400 on.
     *
     * @param string $body Its text, an error envelope where the server itself answered.
     */
    public static function of(string $operation, HttpResponse $response, string $body): ApiException
    {
        $status = $response->status();
        $envelope = self::envelopeOf($body);
        $code = self::textOf($envelope['code'] ?? null);
        $class = self::CLASS_OF_CODE[$code ?? '']
            ?? self::CLASS_OF_STATUS[$status]
            ?? ($status >= 500 ? ServerException::class : ApiException::class);

        return new $class(
            self::textOf($envelope['message'] ?? null) ?? "Cannot do \"$operation\": the answer is $status",
            $status,
            $code,
            self::textOf($envelope['requestId'] ?? null) ?? $response->header('x-request-id'),
            Retry::afterSeconds($response->header('retry-after')),
            self::detailsOf($envelope['details'] ?? null),
        );
    }

    /**
     * The fields below `error`; none where the text is another thing, such as the page of a proxy: the status says enough.
     *
     * @return array<array-key, mixed>
     */
    private static function envelopeOf(string $body): array
    {
        $answer = json_decode($body, true);
        $error = is_array($answer) ? $answer['error'] ?? null : null;

        return is_array($error) ? $error : [];
    }

    /** @return list<array{path: string, message: string}> */
    private static function detailsOf(mixed $details): array
    {
        $found = [];
        foreach (is_array($details) ? $details : [] as $detail) {
            $path = is_array($detail) ? self::textOf($detail['path'] ?? null) : null;
            $message = is_array($detail) ? self::textOf($detail['message'] ?? null) : null;
            if ($path !== null && $message !== null) {
                $found[] = ['path' => $path, 'message' => $message];
            }
        }

        return $found;
    }

    private static function textOf(mixed $value): ?string
    {
        return is_string($value) ? $value : null;
    }
}
