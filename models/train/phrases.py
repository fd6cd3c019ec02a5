"""The closed set of things that our test callers say, written as Whisper writes text.

Nothing outside this file is in the tiny Whisper's world. Run it to list the words:

    python3 phrases.py
"""

import collections
import random
import re

DIGITS = "zero one two three four five six seven eight nine".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday today tomorrow".split()
HOURS = "nine ten eleven two three four".split()
FIRST_NAMES = "Alice John Maria David Sarah Peter".split()
LAST_NAMES = "Smith Brown Jones Garcia Miller Taylor".split()

FIXED = """Yes.
Yes, please.
No.
No, thank you.
Thank you.
Thank you very much.
Goodbye.
Bye bye.
Hello.
Hello, can you hear me?
Okay.
That's right.
That's wrong.
That's all.
Stop.
Wait a moment.
Please wait.
Hold on.
Can you repeat that?
I don't understand.
Speak more slowly, please.
I would like to book an appointment.
I want to cancel my appointment.
I need to change my appointment.
Transfer me to a person.
Can I speak to a person?
Let me talk to an agent.
What are your opening hours?
Where are you located?
What is your address?
How much does it cost?
What time is it?
I have a question about my bill.
I have a question about my order.
What is the status of my order?
I want to pay my bill.
I lost my password.
Please call me back tomorrow.
I would like to leave a message.
What is the weather today?
Help.
Main menu.""".split("\n")

SPANISH = """Sí.
No.
Hola.
Gracias.
Adiós.
Quiero hablar con una persona.
Quiero una cita.
No entiendo.
¿Cuánto cuesta?
Más despacio, por favor.""".split("\n")

REMARKS = [
    "that's right.",
    "that's wrong.",
    "that's all.",
    "thank you.",
    "goodbye.",
    "I need to change my appointment.",
    "transfer me to a person.",
    "I want to cancel my appointment.",
    "what are your opening hours?",
]

WORD_OR_SIGN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|[^\w\s]")


def sample(chance):
    """One phrase: `("en" or "es", text)`. `chance` is a `random.Random`."""
    share = chance.random()
    if share < 0.07:
        return "es", chance.choice(SPANISH)
    if share < 0.50:
        return "en", chance.choice(FIXED)
    return "en", phrase_with_slots(chance)


def phrase_with_slots(chance):
    share = chance.random()
    if share < 0.34:
        return digits(chance)
    if share < 0.60:
        return day(chance)
    if share < 0.80:
        return name(chance)
    if share < 0.90:
        return chance.choice(["At ", "No, at ", "Yes, at "]) + chance.choice(HOURS) + " o'clock."
    return chance.choice(["Yes, ", "No, ", "Okay, "]) + chance.choice(REMARKS)


def digits(chance):
    count = chance.choice([1, 2, 3, 3, 4, 4, 5, 6, 7])
    spoken = " ".join(chance.choice(DIGITS) for _ in range(count))
    alone = capitalized(spoken) + "."
    if count == 1:
        return alone
    return chance.choice([alone, f"My number is {spoken}.", f"My order number is {spoken}."])


def day(chance):
    opening = chance.choice(
        ["I would like to book an appointment for ", "Can I come on ", "Are you open on ", ""]
    )
    chosen = chance.choice(DAYS)
    if opening.endswith("on ") and chosen in ("today", "tomorrow"):
        opening = opening[:-3]
    text = opening + chosen
    if chance.random() < 0.5:
        hour = " at " + chance.choice(HOURS) + " o'clock"
        text += chance.choice([hour, " morning", " afternoon"])
    return capitalized(text) + ("?" if text.startswith(("Can", "Are")) else ".")


def name(chance):
    first, last = chance.choice(FIRST_NAMES), chance.choice(LAST_NAMES)
    return chance.choice(["My name is %s %s.", "This is %s %s.", "%s %s."]) % (first, last)


def capitalized(text):
    return text[0].upper() + text[1:]


def main():
    chance = random.Random(1)
    counts = collections.Counter()
    for _ in range(40000):
        counts.update(WORD_OR_SIGN.findall(sample(chance)[1]))
    print(len(counts), sorted(counts))


if __name__ == "__main__":
    main()
