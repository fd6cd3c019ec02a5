/*
 * The floor: what two-way PCMU costs in C, a socket a call, a wheel of 20 slots on a kernel timer. It decodes what it
 * hears, takes its power, and encodes what it says; no jitter handling, no recording, no reports.
 *
 *   rtp-wheel N
 *
 * Reads N target ports, prints "ports p1 ... pN", and runs until its input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { FRAME = 160, SLOTS = 20, TIMER = -1, INPUT = -2 };

typedef struct {
  int fd;
  struct sockaddr_in target;
  uint16_t sequence;
  int16_t heard[FRAME];
  double power;
} call;

static int16_t decoded[256];
static uint8_t encoded[65536];
static int16_t speech[FRAME];

static int16_t decode(uint8_t byte) {
  byte = (uint8_t)~byte;
  int magnitude = (((byte & 15) << 3) + 0x84) << ((byte & 0x70) >> 4);
  return (int16_t)(byte & 0x80 ? 0x84 - magnitude : magnitude - 0x84);
}

static uint8_t encode(int sample) {
  int sign = sample < 0 ? 0x80 : 0, exponent = 7;
  int magnitude = (sample < 0 ? -sample : sample);
  magnitude = (magnitude > 32635 ? 32635 : magnitude) + 0x84;
  while (exponent > 0 && !(magnitude & (0x80 << exponent))) exponent--;
  return (uint8_t)~(sign | exponent << 4 | (magnitude >> (exponent + 3) & 15));
}

static void hear(call *c) {
  unsigned char bytes[2048];
  struct sockaddr_in source;
  socklen_t length = sizeof source;
  ssize_t size = recvfrom(c->fd, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&source, &length);
  double power = 0;
  for (ssize_t i = 12; i < size && i < 12 + FRAME; i++) {
    int16_t sample = decoded[bytes[i]];
    c->heard[i - 12] = sample;
    power += (double)sample * sample;
  }
  c->power = power;
}

static void say(call *c) {
  unsigned char packet[12 + FRAME] = {0x80};
  uint32_t timestamp = c->sequence * 160u;
  packet[2] = (unsigned char)(c->sequence >> 8);
  packet[3] = (unsigned char)c->sequence;
  for (int byte = 0; byte < 4; byte++) packet[4 + byte] = (unsigned char)(timestamp >> (24 - 8 * byte));
  for (int i = 0; i < FRAME; i++) packet[12 + i] = encoded[(uint16_t)speech[i]];
  sendto(c->fd, packet, sizeof packet, 0, (struct sockaddr *)&c->target, sizeof c->target);
  c->sequence++;
}

static void watch(int epoll, int fd, int32_t mark) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)mark};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

int main(int argc, char **argv) {
  if (argc != 2) return 64;
  int count = atoi(argv[1]), epoll = epoll_create1(0);
  call *calls = calloc((size_t)count, sizeof *calls);
  for (int i = 0; i < 256; i++) decoded[i] = decode((uint8_t)i);
  for (int i = -32768; i < 32768; i++) encoded[(uint16_t)i] = encode(i);
  for (int i = 0; i < FRAME; i++) speech[i] = (int16_t)((i * 409) % 16000 - 8000);
  printf("ports");
  for (int i = 0, port; i < count; i++) {
    if (scanf("%d", &port) != 1) return 65;
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    calls[i].fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (bind(calls[i].fd, (struct sockaddr *)&address, sizeof address) != 0) { perror("bind"); return 1; }
    getsockname(calls[i].fd, (struct sockaddr *)&address, &length);
    printf(" %d", ntohs(address.sin_port));
    calls[i].target = address;
    calls[i].target.sin_port = htons((uint16_t)port);
    watch(epoll, calls[i].fd, i);
  }
  printf("\n");
  fflush(stdout);
  int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), slot = 0;
  struct itimerspec every = {{0, 1000000}, {0, 1000000}};
  timerfd_settime(timer, 0, &every, 0);
  watch(epoll, timer, TIMER);
  watch(epoll, 0, INPUT);
  struct epoll_event events[256];
  for (;;) {
    int ready = epoll_wait(epoll, events, 256, -1);
    for (int i = 0; i < ready; i++) {
      int32_t mark = (int32_t)events[i].data.u32;
      uint64_t turns = 0;
      char byte;
      if (mark == INPUT && read(0, &byte, 1) <= 0) return 0;
      if (mark >= 0) hear(&calls[mark]);
      if (mark != TIMER || read(timer, &turns, sizeof turns) < 0) continue;
      for (; turns > 0; turns--, slot = (slot + 1) % SLOTS)
        for (long c = (long)count * slot / SLOTS; c < (long)count * (slot + 1) / SLOTS; c++) say(&calls[c]);
    }
  }
}
