<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 403: the key lacks the scope, or a signed link is not genuine. */
final class ForbiddenException extends ApiException
{
}
