"""Made-up people and companies as several sources have them, with the entity that each record is of.

Everything follows from the seed. Seeds below 1,000 are for tuning; the bench and the tests use others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate

Row = dict[str, str | None]


def _words(text: str) -> list[str]:
    """Return the words of a text; a dash stands for nothing."""
    return ["" if word == "-" else word for word in text.split()]


GIVEN = _words(
    "robert william james john michael thomas richard charles joseph daniel matthew anthony andrew edward "
    "steven alexander benjamin samuel christopher nicholas peter paul mark david george frank martin "
    "stefan juergen hans elizabeth margaret katherine jennifer susan patricia barbara jessica sarah "
    "rebecca deborah christine victoria anna maria laura julia sophie emma lena claudia monika sabine "
    "petra ursula angela renate ingrid helga heike antoine pierre luc francois marie camille chloe lucie "
    "giulia marco luca paolo francesca elena carlos miguel jose lucia carmen pilar mehmet ayse fatma "
    "mustafa piotr agnieszka wojciech olga dmitri ivan natalia yusuf wei li ming priya raj anil sunita "
    "kofi ama zoe noah liam mia olivia lukas felix jonas finn leon nina clara ida"
)
NICKNAMES = {
    "robert": ("bob", "rob", "bobby"),
    "william": ("bill", "will", "billy"),
    "james": ("jim", "jimmy"),
    "john": ("jack", "johnny"),
    "michael": ("mike", "mick"),
    "thomas": ("tom", "tommy"),
    "richard": ("rick", "dick"),
    "charles": ("charlie", "chuck"),
    "joseph": ("joe",),
    "daniel": ("dan", "danny"),
    "matthew": ("matt",),
    "anthony": ("tony",),
    "andrew": ("andy", "drew"),
    "edward": ("ed", "ted"),
    "steven": ("steve",),
    "alexander": ("alex", "sasha"),
    "benjamin": ("ben",),
    "samuel": ("sam",),
    "christopher": ("chris",),
    "nicholas": ("nick",),
    "elizabeth": ("liz", "beth", "betty"),
    "margaret": ("maggie", "peggy", "meg"),
    "katherine": ("kate", "kathy"),
    "jennifer": ("jen", "jenny"),
    "susan": ("sue",),
    "patricia": ("pat", "trish"),
    "rebecca": ("becky",),
    "deborah": ("debbie",),
    "victoria": ("vicky",),
}
_FAMILY_STARTS = _words(
    "mu ber schu ho ka len wer sta fro gru bau ne zim kra vo ri lau pe sim fal har wal ros da bro mor"
)
_FAMILY_MIDDLES = _words("el en is ar ol er in um ath on ei or ang eck")
_FAMILY_ENDS = _words("mann er feld berg son ler ke i sen haus ter ow ard ley ner ski")
_STREET_STARTS = _words(
    "haupt bahnhof garten schul linden berg kirch wald park ring markt burg rosen see mozart goethe"
)
_STREET_MIDDLES = _words("- er hofer tal ecker brunn acker heimer dorfer felder auer steiner")
_STREET_ENDS = ["strasse", "weg", "allee", "platz", "gasse", "damm"]
_CITY_STARTS = _words("neu alt bad hohen nieder ober gross klein sankt wester oster nord sued winter sommer")
_CITY_ENDS = _words("stadt burg berg hausen heim feld dorf bach furt kirchen tal au")
_TRADES = _words("bau software logistik technik consulting energie pharma metall handel druck media foods textil optik")
_REGIONS = _words("nord sued ost west berlin bayern hessen austria swiss europe international services")
_FORMS = ("gmbh", "ag", "ltd", "inc", "kg", "sarl")
_FREE_MAIL = ("gmail.com", "web.de", "gmx.de", "yahoo.com", "outlook.com", "t-online.de")


@dataclass(frozen=True, slots=True, kw_only=True)
class DataShape:
    """How dirty the records are, and which attributes they have."""

    records: int = 2_000
    typing_errors: float = 0.06
    """The share of values with a typing error."""
    missing: float = 0.12
    moved: float = 0.08
    nicknames: float = 0.1
    swapped: float = 0.02
    relatives: float = 0.2
    """The share of entities with another person of their household, or a subsidiary."""
    copies: float = 1.2
    """How many further records an entity has on average."""
    without: frozenset[str] = field(default_factory=frozenset)
    """Attributes that no source has."""


class RecordMaker:
    """Makes the records of people and companies from one seed."""

    def __init__(self, seed: int, shape: DataShape) -> None:
        self._random = random.Random(seed)
        self.shape = shape
        entities = int(shape.records / (1 + shape.copies)) + 1
        families = [a + b + c for a in _FAMILY_STARTS for b in _FAMILY_MIDDLES for c in _FAMILY_ENDS]
        self._random.shuffle(families)
        self._families = _Skewed(families, 0.75, self._random)
        self._given = _Skewed(self._random.sample(GIVEN, len(GIVEN)), 0.6, self._random)
        cities = [a + b for a in _CITY_STARTS for b in _CITY_ENDS]
        self._random.shuffle(cities)
        self._cities = _Skewed(cities, 0.8, self._random)
        streets = [a + b + c for a in _STREET_STARTS for b in _STREET_MIDDLES for c in _STREET_ENDS]
        self._streets = _Skewed(self._random.sample(streets, len(streets)), 0.5, self._random)
        self._entities = entities

    def people(self) -> Iterator[Row]:
        """Yield the records of people; `truth` is the person and `source` one of three."""
        yield from self._records(self._person, self._relative, self._worn_person)

    def companies(self) -> Iterator[Row]:
        """Yield the records of companies; `truth` is the company and `source` one of three."""
        yield from self._records(self._company, self._subsidiary, self._worn_company)

    def _records(
        self, make: Callable[[], Row], relate: Callable[[Row], Row], wear: Callable[[Row], Row]
    ) -> Iterator[Row]:
        made, entity = 0, 0
        last: Row | None = None
        while made < self.shape.records:
            if last is not None and self._chance(self.shape.relatives):
                row = relate(last)
            else:
                row = last = make()
            entity += 1
            copies = 1 + self._copies()
            for number in range(min(copies, self.shape.records - made)):
                source = self._random.randrange(3)
                worn = wear(dict(row)) if number or self._chance(0.5) else dict(row)
                kept = {name: None if name in self.shape.without else value for name, value in worn.items()}
                yield {"truth": f"t{entity}", "source": f"s{source}", "source_key": f"k{made}", **kept}
                made += 1

    def _copies(self) -> int:
        """Return a number with the mean of the shape; a few entities have many."""
        return min(int(self._random.expovariate(1 / (self.shape.copies + 0.5))), 8)

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _digits(self, count: int) -> str:
        return "".join(self._random.choice("0123456789") for _ in range(count))

    def _place(self) -> Row:
        city = self._cities.pick()
        base = sum(map(ord, city)) * 37 % 900 + 100
        return {
            "street": self._streets.pick(),
            "number": str(self._random.randint(1, 140)),
            "postcode": f"{base}{self._random.randint(10, 29)}",
            "city": city,
        }

    # People.
    def _person(self) -> Row:
        given, family = self._given.pick(), self._families.pick()
        return {
            "given": given,
            "family": family,
            **self._place(),
            "phone": "+49" + self._random.choice("123456789") + self._digits(9),
            "email": self._person_mail(given, family),
            "birth": self._birth(1935, 2005),
        }

    def _relative(self, person: Row) -> Row:
        given = self._given.pick()
        while given == person["given"]:
            given = self._given.pick()
        family = person["family"] if self._chance(0.85) else self._families.pick()
        return {
            **person,
            "given": given,
            "family": family,
            "birth": self._birth(1935, 2020),
            "phone": person["phone"] if self._chance(0.55) else "+49" + self._random.choice("12345") + self._digits(9),
            "email": person["email"] if self._chance(0.15) else self._person_mail(given, str(family)),
        }

    def _birth(self, first: int, last: int) -> str:
        year, month, day = (self._random.randint(*each) for each in ((first, last), (1, 12), (1, 28)))
        return f"{year}-{month:02}-{day:02}"

    def _person_mail(self, given: str, family: str) -> str:
        styles = (
            f"{given}.{family}",
            f"{given[0]}.{family}",
            f"{given}{self._digits(2)}",
            f"{family}{self._digits(3)}",
        )
        return self._random.choice(styles) + "@" + self._random.choice(_FREE_MAIL)

    def _worn_person(self, row: Row) -> Row:
        if self._chance(self.shape.moved):
            row.update(self._place())
            if self._chance(0.4):
                row["phone"] = "+49" + self._random.choice("12345") + self._digits(9)
        if self._chance(self.shape.moved):
            row["email"] = self._person_mail(str(row["given"]), str(row["family"]))
        given = str(row["given"])
        if self._chance(self.shape.nicknames) and given in NICKNAMES:
            row["given"] = self._random.choice(NICKNAMES[given])
        elif self._chance(0.03):
            row["given"] = given[0]
        if self._chance(0.02):
            row["family"] = self._families.pick()
        if self._chance(self.shape.swapped):
            row["given"], row["family"] = row["family"], row["given"]
        if self._chance(0.03) and row["birth"]:
            year, month, day = row["birth"].split("-")
            row["birth"] = f"{year}-{day}-{month}" if int(day) <= 12 else f"{year}-{month}-01"
        return self._worn(row, {"given": 0.02, "family": 0.01})

    # Companies.
    def _company(self) -> Row:
        stem = self._families.pick() if self._chance(0.6) else self._random.choice(_FAMILY_STARTS) + self._digits_word()
        name = f"{stem} {self._random.choice(_TRADES)}" if self._chance(0.8) else stem
        domain = name.replace(" ", "-" if self._chance(0.5) else "") + self._random.choice((".de", ".com", ".eu"))
        return {
            "name": name,
            "form": self._random.choice(_FORMS),
            **self._place(),
            "phone": "+49" + self._random.choice("123456789") + self._digits(8),
            "email": self._random.choice(("info", "office", "sales", "kontakt")) + "@" + domain,
            "vat": "DE" + self._digits(9),
        }

    def _digits_word(self) -> str:
        return "".join(self._random.choice("bcdfklmnprst") + self._random.choice("aeiou") for _ in range(2))

    def _subsidiary(self, company: Row) -> Row:
        stem = str(company["name"]).split()[0]
        region = self._random.choice(_REGIONS)
        names = (
            f"{company['name']} {region}",
            f"{stem} {region}",
            f"{stem} {self._random.choice(_TRADES)}",
            company["name"],
        )
        domain = str(company["email"]).split("@")[1]
        own = self._company()
        return {
            **own,
            "name": self._random.choice(names),
            "form": company["form"] if self._chance(0.6) else own["form"],
            "email": str(own["email"]).split("@")[0] + "@" + domain if self._chance(0.6) else own["email"],
            **({key: company[key] for key in ("street", "number", "postcode", "city")} if self._chance(0.15) else {}),
        }

    def _worn_company(self, row: Row) -> Row:
        if self._chance(self.shape.moved):
            row.update(self._place())
            if self._chance(0.5):
                row["phone"] = "+49" + self._random.choice("12345") + self._digits(8)
        words = str(row["name"]).split()
        if self._chance(self.shape.swapped) and len(words) > 1:
            row["name"] = " ".join(reversed(words))
        elif self._chance(self.shape.nicknames / 2) and len(words) > 1:
            row["name"] = " ".join(words[:-1])
        if self._chance(0.15):
            row["form"] = None
        elif self._chance(0.04):
            row["form"] = self._random.choice(_FORMS)
        if self._chance(0.25):
            user = self._random.choice(("info", "office", "sales", "kontakt", "buchhaltung", "einkauf"))
            row["email"] = user + "@" + str(row["email"]).split("@")[1]
        if self._chance(0.15):
            row["phone"] = str(row["phone"])[:-2] + self._digits(2)
        return self._worn(row, {"name": 0.0, "form": 0.0, "vat": 0.35})

    def _worn(self, row: Row, missing: dict[str, float]) -> Row:
        for name, value in row.items():
            if value is None:
                continue
            if self._chance(missing.get(name, self.shape.missing)):
                row[name] = None
            elif name != "form" and self._chance(self.shape.typing_errors):
                row[name] = self._mistyped(value)
        if row.get("street") is None or row.get("number") is None:
            row["number"] = None
        return row

    def _mistyped(self, value: str) -> str:
        place, letters = self._random.randrange(len(value)), "abcdefghijklmnopqrstuvwxyz"
        letter = self._random.choice("0123456789" if value[place].isdigit() else letters)
        kind = self._random.randrange(4)
        if kind == 0:
            return value[:place] + letter + value[place + 1 :]
        if kind == 1 and len(value) > 2:
            return value[:place] + value[place + 1 :]
        if kind == 2:
            return value[:place] + letter + value[place:]
        return value[:place] + value[place + 1 : place + 2] + value[place : place + 1] + value[place + 2 :]


class _Skewed:
    """Picks values, the first ones most often."""

    def __init__(self, values: list[str], skew: float, source: random.Random) -> None:
        self._values, self._random = values, source
        self._weights = list(accumulate(1 / (place + 3) ** skew for place in range(len(values))))

    def pick(self) -> str:
        return self._random.choices(self._values, cum_weights=self._weights)[0]
