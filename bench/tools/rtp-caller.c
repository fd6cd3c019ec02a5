/*
 * The other side of N calls: sends a packet every 20 ms on each, PCMU unless given, and measures what comes back by the kernel's receive
 * time stamps, which on loopback are the moments of sending.
 *
 *   rtp-caller N WARM_S MEASURE_S [PAYLOAD_TYPE CLOCK_HZ PAYLOAD_HEX [mixed]]
 *
 * With "mixed" every second call sends PCMU.
 *
 * Prints "ports p1 ... pN", reads N target ports, prints "begin" and "end" around the measured time, then one line of JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 12, VOICE = 160, PAYLOAD_MAX = 320, FRAME_NS = 20000000 };

typedef struct {
  int fd;
  struct sockaddr_in target;
  uint16_t sent;
  uint64_t next_send;
  double *offsets; /* arrival minus 20 ms times the packet's number, in ms */
  int arrived, capacity;
  uint16_t first_sequence, last_sequence;
  int32_t extended;
} call;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static void open_call(call *c, int epoll, int index, int capacity) {
  int one = 1;
  struct sockaddr_in address = {.sin_family = AF_INET};
  socklen_t length = sizeof address;
  inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
  c->fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  setsockopt(c->fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof one);
  if (bind(c->fd, (struct sockaddr *)&address, sizeof address) != 0) { perror("bind"); exit(1); }
  getsockname(c->fd, (struct sockaddr *)&address, &length);
  printf(" %d", ntohs(address.sin_port));
  c->target = address;
  c->capacity = capacity;
  c->offsets = malloc(sizeof(double) * (size_t)capacity);
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

/* What one kind of call sends. */
typedef struct {
  unsigned char bytes[HEADER + PAYLOAD_MAX];
  int length;
  uint32_t ticks;
} sound;

static void send_packet(call *c, int index, sound *sound) {
  unsigned char *packet = sound->bytes;
  uint32_t timestamp = c->sent * sound->ticks;
  packet[2] = (unsigned char)(c->sent >> 8);
  packet[3] = (unsigned char)c->sent;
  for (int byte = 0; byte < 4; byte++) packet[4 + byte] = (unsigned char)(timestamp >> (24 - 8 * byte));
  packet[10] = (unsigned char)(index >> 8);
  packet[11] = (unsigned char)index;
  sendto(c->fd, packet, (size_t)sound->length, 0, (struct sockaddr *)&c->target, sizeof c->target);
  c->sent++;
  c->next_send += FRAME_NS;
}

static uint64_t arrival_of(struct msghdr *header) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
    if (item->cmsg_type != SCM_TIMESTAMPNS) continue;
    struct timespec t;
    memcpy(&t, CMSG_DATA(item), sizeof t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
  }
  return 0;
}

static void receive_all(call *c, uint64_t begin, uint64_t end) {
  unsigned char bytes[2048];
  char control[256];
  for (;;) {
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t length = recvmsg(c->fd, &header, MSG_DONTWAIT);
    if (length < 0) return;
    /* RTCP, on a port that has both. */
    if (length <= HEADER || (bytes[1] >= 192 && bytes[1] <= 223)) continue;
    uint64_t at = arrival_of(&header);
    if (at < begin || at >= end || c->arrived == c->capacity) continue;
    uint16_t sequence = (uint16_t)(bytes[2] << 8 | bytes[3]);
    if (c->arrived == 0) c->first_sequence = c->last_sequence = sequence;
    c->extended += (int16_t)(sequence - c->last_sequence);
    c->last_sequence = sequence;
    c->offsets[c->arrived++] = (double)(at - begin) / 1e6 - 20.0 * c->extended;
  }
}

static double least_of(const double *values, int count) {
  double least = INFINITY;
  for (int i = 0; i < count; i++) least = fmin(least, values[i]);
  return least;
}

/*
 * How the sender's clock runs, in ms a second: the earliest packet of the last third against that of the first, since
 * lateness only ever adds.
 */
static double drift_of(const call *c) {
  int third = c->arrived / 3;
  if (third == 0) return 0;
  double change = least_of(c->offsets + c->arrived - third, third) - least_of(c->offsets, third);
  return change / ((c->arrived - third) * 0.02);
}

static void report(call *calls, int count, long sent) {
  long received = 0, lost = 0, silent = 0, at = 0;
  for (int i = 0; i < count; i++) received += calls[i].arrived;
  double *late = malloc(sizeof(double) * (size_t)(received + 1)), *drift = malloc(sizeof(double) * (size_t)count);
  for (int i = 0; i < count; i++) {
    call *c = &calls[i];
    double least = least_of(c->offsets, c->arrived);
    if (c->arrived == 0) silent++;
    else lost += c->extended + 1 - c->arrived;
    for (int p = 0; p < c->arrived; p++) late[at++] = c->offsets[p] - least;
    drift[i] = drift_of(c);
  }
  qsort(late, (size_t)at, sizeof *late, by_size);
  qsort(drift, (size_t)count, sizeof *drift, by_size);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  printf("{\"sent\":%ld,\"received\":%ld,\"lost\":%ld,\"silent\":%ld,\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"drift\":%.4f,\"cpuSeconds\":%.3f}\n",
         sent, received, lost, silent, at ? late[at / 2] : -1, at ? late[(long)(at * 0.99)] : -1,
         at ? late[(long)(at * 0.999)] : -1, drift[count / 2], cpu);
}

/* Takes type, clock and payload of the packets from the command line. */
static void read_sound(sound *sound, char **given) {
  sound->bytes[1] = (unsigned char)atoi(given[0]);
  sound->ticks = (uint32_t)atoi(given[1]) / 50;
  sound->length = HEADER;
  for (char *hex = given[2]; hex[0] && hex[1] && sound->length < HEADER + PAYLOAD_MAX; hex += 2) {
    unsigned byte = 0;
    sscanf(hex, "%2x", &byte);
    sound->bytes[sound->length++] = (unsigned char)byte;
  }
}

int main(int argc, char **argv) {
  if (argc != 4 && argc != 7 && argc != 8) return 64;
  int count = atoi(argv[1]), epoll = epoll_create1(0), next = 0;
  double warm = atof(argv[2]), measure = atof(argv[3]);
  call *calls = calloc((size_t)count, sizeof *calls);
  sound pcmu = {.bytes = {0x80}, .length = HEADER + VOICE, .ticks = VOICE}, given = pcmu;
  /* A square wave of 500 Hz: loud enough to be voice to any detector. */
  for (int i = HEADER; i < pcmu.length; i++) pcmu.bytes[i] = i & 8 ? 0x91 : 0x11;
  if (argc > 4) read_sound(&given, argv + 4);
  sound *sounds[] = {argc > 4 ? &given : &pcmu, argc == 8 || argc == 4 ? &pcmu : &given};
  printf("ports");
  for (int i = 0; i < count; i++) open_call(&calls[i], epoll, i, (int)(measure * 100) + 100);
  printf("\n");
  fflush(stdout);
  for (int i = 0, port; i < count; i++) {
    if (scanf("%d", &port) != 1) return 65;
    calls[i].target.sin_port = htons((uint16_t)port);
  }
  uint64_t start = now_ns() + 20000000, begin = start + (uint64_t)(warm * 1e9), end = begin + (uint64_t)(measure * 1e9);
  for (int i = 0; i < count; i++) calls[i].next_send = start + (uint64_t)FRAME_NS * (uint64_t)i / (uint64_t)count;
  long sent = 0;
  int is_measuring = 0;
  struct epoll_event events[256];
  for (uint64_t now = now_ns(); now < end; now = now_ns()) {
    if (!is_measuring && now >= begin) { is_measuring = 1; puts("begin"); fflush(stdout); }
    while (calls[next].next_send <= now) { send_packet(&calls[next], next, sounds[next % 2]); sent += is_measuring; next = (next + 1) % count; }
    int64_t wait = (int64_t)(calls[next].next_send - now_ns());
    struct timespec pause = {0, wait < 200000 ? 200000 : wait > 2000000 ? 2000000 : wait};
    int ready = epoll_pwait2(epoll, events, 256, &pause, NULL);
    for (int i = 0; i < ready; i++) receive_all(&calls[events[i].data.u32], begin, end);
  }
  puts("end");
  fflush(stdout);
  report(calls, count, sent);
  return 0;
}
