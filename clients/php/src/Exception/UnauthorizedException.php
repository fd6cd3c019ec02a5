<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 401: the API key is missing, unknown or revoked. */
final class UnauthorizedException extends ApiException
{
}
