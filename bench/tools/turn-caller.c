/*
 * Callers that take turns with an agent, 20 ms PCMU packets both ways, times by the kernel's receive time stamps,
 * which on loopback are the moments of sending.
 *
 *   turn-caller N WARM_S MEASURE_S turns|interrupts|resumes
 *
 * `turns`: speaks for 600 ms when the agent has been silent for a while, and waits for the reply.
 * `interrupts`: over every reply makes a noise of one or two packets, says "mm-hm" for 240 ms, then speaks for 600 ms.
 * `resumes`: as `turns`, but every fifth turn has a pause of 120 ms in its middle: long enough to be thought ahead of, too
 * short to be the end.
 *
 * Prints "ports p1 ... pN", reads N target ports, prints "begin" and "end" around the measured time, then one line of
 * JSON. Lateness is that of every packet against the earliest of its talk spurt, which begins with a marker, or of the
 * silence after it: at both an agent may move its beat. "voices" tells when each call heard its first voice, in ms since 1970, 0 where it never did.
 * The low three bits of a voiced byte are the mark of the agent's reply; 7 marks a reply to half a turn. It asks for real-time priority; a turn
 * in which a packet of ours left late all the same does not count.
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PACKET = 172, QUIET_BYTE = 0xff, SPEECH = 30, HUM = 12, HOLE = 6, HALF_MARK = 7, SAMPLES = 100000, SPURT = 4096 };
#define MS 1000000ull
#define LATE_MAX (10 * MS)
enum state { PAUSE, TURN, REPLY, NOISE, WEIGH_NOISE, WEIGH_HUM, INTERRUPTION };

typedef struct {
  int fd, mark, left, hole, is_late, is_dropped, interrupts;
  struct sockaddr_in target;
  enum state state;
  uint16_t sent;
  uint64_t next_send, act_at;
  uint64_t onset, said_at;     /* when the first and the last voiced packet of ours left */
  uint64_t heard_at, stop_at;  /* when the agent's last voiced packet left; the same of the reply that is interrupted */
  uint64_t gap;                /* longest silence of the agent since the onset */
  uint64_t voiced_at;          /* when the first voice of all was heard */
  uint16_t spurt_sequence, last_sequence;
  uint64_t spurt_at;           /* when the spurt's first packet came */
  int spurt_count;             /* packets of the spurt so far, 0 before the first */
  int is_spurt_voiced;
  float offsets[SPURT];        /* of those that count: how much later than the first and 20 ms for each since, in ms */
} call;

typedef struct { double ms[SAMPLES]; long count; } samples;
static samples replies, stops, resumes;
static long resumed, wrong, missed, noises, noise_stops, hums, lost_hums, stale, sent, late_turns;
static long lost, late_count, late_capacity;
static float *lateness;
static uint64_t begin, end;
static int is_interrupting, is_resuming;

static uint64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static uint64_t chance_ms(int least, int most) { return MS * (uint64_t)(least + rand() % (most - least)); }
static int counts(uint64_t at) { return at >= begin && at < end; }
static void add(samples *list, uint64_t from, uint64_t to) {
  if (counts(from) && list->count < SAMPLES) list->ms[list->count++] = ((double)to - (double)from) / 1e6;
}

static void enter(call *c, enum state state, uint64_t act_at) { c->state = state; c->act_at = act_at; }
static void speak(call *c, int packets, uint64_t now) {
  c->left = packets;
  c->onset = now;
  c->gap = 0;
  c->is_late = 0;
  c->hole = is_resuming && rand() % 5 == 0 ? HOLE : 0;
  if (c->hole && counts(now)) resumed++;
}

/* What is to be done before a packet leaves. */
static void decide(call *c, uint64_t now) {
  uint64_t silence = now > c->heard_at ? now - c->heard_at : 0;
  if (c->left > 0) return;
  switch (c->state) {
    case PAUSE:
      if (now < c->act_at || (!is_interrupting && silence < 300 * MS)) return;
      speak(c, SPEECH, now);
      enter(c, TURN, now + 4000 * MS);
      return;
    case TURN:
    case INTERRUPTION:
      if (now < c->act_at) return;
      if (counts(c->onset)) missed++;
      enter(c, PAUSE, now + chance_ms(300, 800));
      return;
    case REPLY:
      if (!is_interrupting && silence > 100 * MS) enter(c, PAUSE, now + chance_ms(300, 800));
      if (!is_interrupting || now < c->act_at) return;
      speak(c, 1 + c->interrupts++ % 2, now);
      enter(c, WEIGH_NOISE, now + 300 * MS);
      return;
    case WEIGH_NOISE:
      if (now < c->act_at) return;
      if (silence > c->gap) c->gap = silence;
      if (counts(c->onset)) { noises++; noise_stops += c->gap > 60 * MS; }
      enter(c, NOISE, now + chance_ms(100, 300));
      return;
    case NOISE:
      if (now < c->act_at) return;
      speak(c, HUM, now);
      enter(c, WEIGH_HUM, now + 1500 * MS);
      return;
    case WEIGH_HUM:
      if (now < c->act_at) return;
      if (counts(c->onset)) { hums++; lost_hums += silence > 60 * MS; }
      speak(c, SPEECH, now);
      c->stop_at = c->heard_at;
      c->is_dropped = silence > 60 * MS;
      enter(c, INTERRUPTION, now + 4000 * MS);
  }
}

static void hear_voice(call *c, int mark, uint64_t at) {
  if (c->state == TURN && mark != c->mark && at > c->onset && (mark == HALF_MARK || c->left > 0)) wrong += counts(at);
  int is_new = mark != c->mark, has_spoken = c->left == 0 && at > c->said_at;
  uint64_t gap = at > c->heard_at ? at - c->heard_at : 0;
  if (at > c->onset && gap > c->gap) c->gap = gap;
  if (c->state == WEIGH_HUM && has_spoken && !is_new && gap > 60 * MS) add(&resumes, c->said_at, at);
  if (c->state == INTERRUPTION && !is_new) {
    if (c->is_dropped && counts(c->onset)) stale++;
    c->stop_at = at;
  }
  c->heard_at = at;
  c->mark = mark;
  if ((c->state != TURN && c->state != INTERRUPTION) || !has_spoken || (c->state == INTERRUPTION && !is_new)) return;
  if (c->is_late) late_turns += counts(c->onset);
  else add(&replies, c->said_at, at);
  if (!c->is_late && c->state == INTERRUPTION && c->stop_at > c->onset) add(&stops, c->onset, c->stop_at);
  enter(c, REPLY, at + chance_ms(300, 600));
}

static void end_spurt(call *c) {
  float least = c->offsets[0];
  for (int i = 1; i < c->spurt_count; i++) if (c->offsets[i] < least) least = c->offsets[i];
  for (int i = 0; i < c->spurt_count && late_count < late_capacity; i++) lateness[late_count++] = c->offsets[i] - least;
  c->spurt_count = 0;
}

/* Packets of before the measured time do not count, nor do spurts that began then up to their next packet. */
static void time_packet(call *c, const unsigned char *bytes, uint64_t at) {
  uint16_t sequence = (uint16_t)(bytes[2] << 8 | bytes[3]);
  int step = (int16_t)(sequence - c->last_sequence), is_first = c->spurt_count == 0;
  if (!counts(at)) return;
  if (!is_first && step > 1) lost += step - 1;
  if (!is_first && step < 0) { lost--; return; } /* It had only been overtaken. */
  int is_voiced = bytes[20] != QUIET_BYTE;
  if (bytes[1] & 0x80 || (c->is_spurt_voiced && !is_voiced) || c->spurt_count == SPURT) end_spurt(c);
  c->is_spurt_voiced = is_voiced;
  if (c->spurt_count == 0) { c->spurt_sequence = sequence; c->spurt_at = at; }
  double due = 20.0 * (uint16_t)(sequence - c->spurt_sequence);
  c->offsets[c->spurt_count++] = (float)(((double)at - (double)c->spurt_at) / 1e6 - due);
  c->last_sequence = sequence;
}

static void hear(call *c, const unsigned char *bytes, uint64_t at) {
  if ((bytes[1] & 0x7f) != 0) return; /* RTCP */
  time_packet(c, bytes, at);
  if (bytes[20] != QUIET_BYTE && c->voiced_at == 0) c->voiced_at = at;
  if (bytes[20] != QUIET_BYTE) hear_voice(c, bytes[20] & 7, at);
  else if (c->state == INTERRUPTION && at > c->onset) c->is_dropped = 1;
}

static void send_packet(call *c, unsigned char *packet) {
  uint32_t timestamp = c->sent * 160u;
  decide(c, now_ns());
  int is_hole = c->hole > 0 && c->left == SPEECH / 2, is_voiced = c->left > 0 && !is_hole;
  c->hole -= is_hole;
  for (int i = 12; i < PACKET; i++) packet[i] = is_voiced ? (i & 8 ? 0x91 : 0x11) : QUIET_BYTE;
  packet[2] = (unsigned char)(c->sent >> 8);
  packet[3] = (unsigned char)c->sent;
  for (int byte = 0; byte < 4; byte++) packet[4 + byte] = (unsigned char)(timestamp >> (24 - 8 * byte));
  uint64_t at = now_ns();
  if (is_voiced) { c->left--; c->said_at = at; }
  if (at > c->next_send + LATE_MAX) c->is_late = 1;
  sendto(c->fd, packet, PACKET, 0, (struct sockaddr *)&c->target, sizeof c->target);
  c->sent++;
  c->next_send += 20 * MS;
  sent++;
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

static void receive_all(call *c) {
  unsigned char bytes[2048];
  char control[256];
  for (;;) {
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t size = recvmsg(c->fd, &header, MSG_DONTWAIT);
    if (size < 0) return;
    if (size == PACKET) hear(c, bytes, arrival_of(&header));
  }
}

static void open_call(call *c, int epoll, int index) {
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
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)index};
  epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static void print_samples(const char *name, const samples *list) {
  printf("\"%s\":[", name);
  for (long i = 0; i < list->count; i++) printf(i ? ",%.3f" : "%.3f", list->ms[i]);
  printf("],");
}

static int by_size(const void *a, const void *b) {
  float x = *(const float *)a, y = *(const float *)b;
  return x < y ? -1 : x > y;
}

static void print_packets(call *calls, int count) {
  for (int i = 0; i < count; i++) end_spurt(&calls[i]);
  qsort(lateness, (size_t)late_count, sizeof *lateness, by_size);
  printf("\"packets\":%ld,\"lost\":%ld,\"packetsLateP99Ms\":%.3f,\"voices\":[", late_count, lost,
         late_count ? lateness[(long)((double)late_count * 0.99)] : -1);
  for (int i = 0; i < count; i++) printf(i ? ",%.3f" : "%.3f", (double)calls[i].voiced_at / 1e6);
  printf("],");
}

static void report(call *calls, int count) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("{");
  print_samples("replies", &replies);
  print_samples("stops", &stops);
  print_samples("resumes", &resumes);
  print_packets(calls, count);
  printf("\"resumed\":%ld,\"wrong\":%ld,\"missed\":%ld,\"noises\":%ld,\"noiseStops\":%ld,\"hums\":%ld,\"lostHums\":%ld,\"stale\":%ld,\"sent\":%ld,\"lateTurns\":%ld,\"cpuSeconds\":%.3f}\n",
         resumed, wrong, missed, noises, noise_stops, hums, lost_hums, stale, sent, late_turns,
         (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

int main(int argc, char **argv) {
  if (argc != 5) return 64;
  int count = atoi(argv[1]), epoll = epoll_create1(0), next = 0;
  struct sched_param priority = {.sched_priority = 5};
  sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &priority);
  is_interrupting = strcmp(argv[4], "interrupts") == 0;
  is_resuming = strcmp(argv[4], "resumes") == 0;
  call *calls = calloc((size_t)count, sizeof *calls);
  late_capacity = (long)(count * (atof(argv[3]) * 60 + 60));
  lateness = malloc(sizeof *lateness * (size_t)late_capacity);
  unsigned char packet[PACKET] = {0x80};
  printf("ports");
  for (int i = 0; i < count; i++) open_call(&calls[i], epoll, i);
  printf("\n");
  fflush(stdout);
  for (int i = 0, port; i < count; i++) {
    if (scanf("%d", &port) != 1) return 65;
    calls[i].target.sin_port = htons((uint16_t)port);
  }
  uint64_t start = now_ns() + 20 * MS;
  begin = start + (uint64_t)(atof(argv[2]) * 1e9);
  end = begin + (uint64_t)(atof(argv[3]) * 1e9);
  for (int i = 0; i < count; i++) {
    calls[i].next_send = start + 20 * MS * (uint64_t)i / (uint64_t)count;
    calls[i].act_at = start + chance_ms(500, 1500);
  }
  int is_measuring = 0;
  struct epoll_event events[256];
  /* What was said in the measured time may be answered after it. */
  for (uint64_t now = now_ns(); now < end + 700 * MS; now = now_ns()) {
    if (!is_measuring && now >= begin) { is_measuring = 1; puts("begin"); fflush(stdout); }
    while (calls[next].next_send <= now) { send_packet(&calls[next], packet); next = (next + 1) % count; }
    /* A wake for every packet would take the machine from whom it measures; the kernel has noted when each came. */
    struct timespec pause = {0, MS};
    nanosleep(&pause, NULL);
    int ready = epoll_wait(epoll, events, 256, 0);
    for (int i = 0; i < ready; i++) receive_all(&calls[events[i].data.u32]);
  }
  puts("end");
  fflush(stdout);
  report(calls, count);
  return 0;
}
