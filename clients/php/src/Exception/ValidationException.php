<?php

declare(strict_types=1);

namespace Offhook\Exception;

/** 400: fields of the request are wrong; `details` names them. */
final class ValidationException extends ApiException
{
}
