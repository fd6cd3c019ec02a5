/*
 * The ideal agent: what a reply takes when nothing but the models takes time. It hears three voiced packets, waits for
 * 200 ms of silence after the last of them, then 260 ms for its models, and talks; timers of the kernel, no SIP, no
 * threads, no recording, and real-time priority where that is permitted.
 *
 *   turn-agent N aligned|grid REPLY_MS
 *
 * `aligned` starts to talk at once and moves the call's 20 ms with it; `grid` waits for the next of the call's 20 ms,
 * as voice servers usually do. Reads N target ports, prints "ports p1 ... pN", and runs until its input ends.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 172, QUIET_BYTE = 0xff, VOICE_PACKETS = 3, INPUT = -1 };
#define MS 1000000ull
#define REPLY_AFTER ((200 + 80 + 120 + 60) * MS)

typedef struct {
  int fd, voiced, is_turn, left, mark;
  struct sockaddr_in target;
  uint16_t sent;
  uint64_t next_send, reply_at;
} call;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint64_t arrival_of(struct msghdr *header) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
    if (item->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec t;
    memcpy(&t, CMSG_DATA(item), sizeof t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
  }
  return now_ns();
}

static void hear(call *c) {
  unsigned char bytes[2048];
  char control[256];
  struct iovec part = {bytes, sizeof bytes};
  struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
  if (recvmsg(c->fd, &header, MSG_DONTWAIT) != PACKET) return;
  if (bytes[20] == QUIET_BYTE) { c->voiced = 0; return; }
  if (++c->voiced == VOICE_PACKETS) { c->is_turn = 1; c->left = 0; }
  if (c->is_turn) c->reply_at = arrival_of(&header) + REPLY_AFTER;
}

static void say(call *c, int reply_packets, int is_aligned, uint64_t now) {
  unsigned char packet[PACKET] = {0x80};
  uint32_t timestamp = c->sent * 160u;
  if (c->is_turn && c->reply_at <= now) {
    if (is_aligned) c->next_send = now;
    c->is_turn = 0;
    c->left = reply_packets;
    c->mark = (c->mark + 1) & 7;
  }
  packet[2] = (unsigned char)(c->sent >> 8);
  packet[3] = (unsigned char)c->sent;
  for (int byte = 0; byte < 4; byte++) packet[4 + byte] = (unsigned char)(timestamp >> (24 - 8 * byte));
  for (int i = 12; i < PACKET; i++) packet[i] = (unsigned char)(c->left > 0 ? 0x10 | c->mark | (i & 8 ? 0x80 : 0) : QUIET_BYTE);
  sendto(c->fd, packet, sizeof packet, 0, (struct sockaddr *)&c->target, sizeof c->target);
  if (c->left > 0) c->left--;
  c->sent++;
  c->next_send += 20 * MS;
}

static uint64_t due_at(const call *c, int is_aligned) {
  return is_aligned && c->is_turn && c->reply_at < c->next_send ? c->reply_at : c->next_send;
}

static void watch(int epoll, int fd, int32_t mark) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)mark};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void open_call(call *c) {
  int one = 1, port;
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  if (scanf("%d", &port) != 1) exit(65);
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  c->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  setsockopt(c->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
  if (bind(c->fd, (struct sockaddr *)&address, sizeof address) != 0) { perror("bind"); exit(1); }
  getsockname(c->fd, (struct sockaddr *)&address, &length);
  printf(" %d", ntohs(address.sin_port));
  c->target = address;
  c->target.sin_port = htons((uint16_t)port);
}

int main(int argc, char **argv) {
  if (argc != 4) return 64;
  int count = atoi(argv[1]), is_aligned = strcmp(argv[2], "aligned") == 0, reply_packets = atoi(argv[3]) / 20;
  int epoll = epoll_create1(0);
  struct sched_param priority = {.sched_priority = 5};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
  call *calls = calloc((size_t)count, sizeof *calls);
  printf("ports");
  for (int i = 0; i < count; i++) {
    open_call(&calls[i]);
    watch(epoll, calls[i].fd, i);
    calls[i].next_send = now_ns() + (uint64_t)(rand() % 20000) * 1000;
  }
  printf("\n");
  fflush(stdout);
  watch(epoll, 0, INPUT);
  struct epoll_event events[256];
  for (;;) {
    uint64_t now = now_ns(), next = now + 20 * MS;
    for (int i = 0; i < count; i++) {
      if (due_at(&calls[i], is_aligned) <= now) say(&calls[i], reply_packets, is_aligned, now);
      uint64_t due = due_at(&calls[i], is_aligned);
      if (due < next) next = due;
    }
    int64_t wait = (int64_t)(next - now_ns());
    struct timespec pause = {0, wait < 0 ? 0 : wait};
    int ready = epoll_pwait2(epoll, events, 256, &pause, NULL);
    for (int i = 0; i < ready; i++) {
      int32_t mark = (int32_t)events[i].data.u32;
      char byte;
      if (mark != INPUT) hear(&calls[mark]);
      else if (read(0, &byte, 1) <= 0) return 0;
    }
  }
}
