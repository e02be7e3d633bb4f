// Markdown of models and people. It is untrusted: no HTML, no images from elsewhere, only web and mail links.
import { type ComponentProps, lazy, memo, Suspense } from "react";
import type { Options } from "react-markdown";

const PARTS: Options["components"] = {
  // An image would tell another host who reads this, and when.
  img: ({ alt, src }) => <span className="text-muted">[image: {alt ? alt : typeof src === "string" ? src : "untitled"}]</span>,
  a: ({ href, children }: ComponentProps<"a">) =>
    href ? (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow">
        {children}
      </a>
    ) : (
      <span>{children}</span>
    ),
};

/** Return the address of a link, or an empty text if it is not a web or mail address. */
export function safeUrl(url: string): string {
  return /^(https?:\/\/|mailto:|#)/i.test(url) ? url : "";
}

const Rendered = lazy(async () => {
  const [{ default: ReactMarkdown }, { default: gfm }] = await Promise.all([import("react-markdown"), import("remark-gfm")]);
  return {
    default: ({ text }: { text: string }) => (
      <ReactMarkdown remarkPlugins={[gfm]} skipHtml urlTransform={safeUrl} components={PARTS}>
        {text}
      </ReactMarkdown>
    ),
  };
});

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  return (
    <div className="prose">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <Rendered text={text} />
      </Suspense>
    </div>
  );
});
