/** Words of a question that say nothing of its subject: articles, pronouns, auxiliaries; pure */

/** By language, because the articles of one are the nouns of another. Nearly every passage has them, so that to look for them takes most of a search and finds nothing. */
const FUNCTION_WORDS = {
  en: 'a an and any are as at be been but by can could did do does for from get had has have he her him his how i if in into is it its just me my no not of on or our out please she should so some tell than that the their them then there they this to up us was we were what when where which who whom whose why will with would you your',
  de: 'als am an auf aus bei bin bis bitte das dass dem den der des die dies diese ein eine einen einer es für haben hat hatte ich ihr ihre im in ist ja kann können man mein mich mir mit muss nach nicht noch nur oder sehr sein sich sie sind so um und uns vom von vor war was wann warum wenn wer werden wie wir wird wo zu zum zur über',
  fr: 'ai au aux avec avez ce ces cette comment dans de des du elle en est et être il ils je la le les leur lui ma mais me mes mon ne nous on ont ou où par pas pour pourquoi quand que quel quelle qui sa se ses son sont sur un une vos votre vous y à',
  es: 'al como con cuando cuál cuándo cómo de del donde dónde el ella en es esta este está están ha hay la las le les lo los me mi mis muy más no nos o para pero por porque puede puedo qué que quien quién se si sin su sus también un una y yo',
  it: 'a ad ai al alla che chi ci come con cosa da dal dalla dei del della delle di dove e gli ha hai hanno ho i il in io la le lo ma mi mio nel nella no non o per perché posso può quale quando quanto questo se si sono su sua suo un una uno è',
  pt: 'a ao as com como da das de do dos e ela ele em essa esse este está eu foi há isso mais mas me meu minha na não no nos o onde os ou para pela pelo por posso qual quando quanto que quem se ser seu sua são também tem um uma é',
  nl: 'aan als bij dat de deze die dit een en er haar heb hebben heeft het hij hoe ik in is je jullie kan kunnen maar me met mij mijn naar niet nog of om onze op te tot uit van voor waar waarom wanneer was wat we welke wie wij wordt zij zijn zo',
};

const WORDS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(FUNCTION_WORDS).map(([language, list]) => [language, new Set(list.split(' '))]),
);

/**
 * The words of a question that tell something of its subject, in lower case and without repeats; all of them where none does.
 *
 * @param language BCP 47, such as `de-AT`; of one without a list no word is left out.
 */
export function tellingWords(question: string, language: string): readonly string[] {
  const found = question
    .toLowerCase()
    .normalize('NFC')
    .match(/[\p{L}\p{N}]+/gu);
  const words = [...new Set(found)];
  const [code = ''] = language.toLowerCase().split('-');
  const telling = words.filter((word) => WORDS.get(code)?.has(word) !== true);
  return telling.length === 0 ? words : telling;
}
