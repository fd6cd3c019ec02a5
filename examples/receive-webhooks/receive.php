<?php
/*
 * Receives webhooks with PHP's own HTTP server. Try it:
 *
 *     WEBHOOK_SECRET=whsec_… php -S 127.0.0.1:9000 examples/receive-webhooks/receive.php
 */

// With Composer: require 'vendor/autoload.php';
require __DIR__ . '/../../clients/php/autoload.php';

use Offhook\Exception\WebhookSignatureException;
use Offhook\Webhooks;

$secret = getenv('WEBHOOK_SECRET');
try {
    $event = Webhooks::verify(file_get_contents('php://input'), getallheaders(), $secret);
} catch (WebhookSignatureException $error) {
    file_put_contents('php://stdout', "refused {$error->getMessage()}\n");
    http_response_code(401);
    return;
}

// Deliveries come at least once. A real receiver keeps their ids in its database; 'x' makes the file or fails.
$isNew = @fopen(sys_get_temp_dir() . "/offhook-seen-{$event['id']}", 'x') !== false;
if ($isNew) {
    file_put_contents('php://stdout', "received {$event['event']} {$event['id']}\n");
}
http_response_code(204);
